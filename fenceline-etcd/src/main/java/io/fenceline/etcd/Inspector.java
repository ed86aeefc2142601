package io.fenceline.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.lease.LeaseTimeToLiveResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.OptionsUtil;
import io.etcd.jetcd.options.PutOption;
import io.fenceline.spi.Causes;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.NameState;
import io.fenceline.spi.ReleaseRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;

/** Looks at names as anyone may, and touches claims of others, each named by its revision. */
final class Inspector {
  private static final int PAGE = 500;

  /** How often a change is sent again because the key has changed in between. */
  private static final int ATTEMPTS = 4;

  private static final GetOption ALL = GetOption.builder().isPrefix(true).build();

  private final EtcdClient etcd;
  private final Layout layout;

  Inspector(EtcdClient etcd, Layout layout) {
    this.etcd = etcd;
    this.layout = layout;
  }

  private CompletableFuture<List<Entry>> entries(String name) {
    return readable(
        etcd.get(layout.name(name), ALL).thenApply(read -> Entry.all(read.getKvs())),
        "Lock '" + name + "' can't be read");
  }

  /** The same, with an error of ours where something was found that we can't read. */
  private <T> CompletableFuture<T> readable(CompletableFuture<T> answer, String what) {
    return answer.exceptionallyCompose(
        failure -> {
          Throwable cause = Causes.unwrap(failure);
          return CompletableFuture.failedFuture(
              cause instanceof Entry.ForeignKeyException
                  ? etcd.unavailable(what + ": " + cause.getMessage(), cause)
                  : cause);
        });
  }

  // Looking. ------------------------------------------------------------------------------------

  CompletableFuture<NameState> inspect(String name) {
    return entries(name).thenCompose(found -> states(Map.of(name, found))).thenApply(s -> s.get(0));
  }

  /** Names in byte order, which is the order of their keys, as of one revision. */
  CompletableFuture<List<NameState>> list(String prefix, int limit) {
    ByteSequence start = layout.names(prefix);
    ByteSequence end = OptionsUtil.prefixEndOf(start);
    return readable(page(start, end, 0, limit, new LinkedHashMap<>()), "The locks can't be listed")
        .thenCompose(this::states);
  }

  private CompletableFuture<Map<String, List<Entry>>> page(
      ByteSequence start,
      ByteSequence end,
      long revision,
      int limit,
      Map<String, List<Entry>> found) {
    GetOption option =
        GetOption.builder().withRange(end).withRevision(revision).withLimit(PAGE).build();
    return etcd.get(start, option)
        .thenCompose(
            read -> {
              for (KeyValue each : read.getKvs()) {
                String name = layout.nameOf(each.getKey());
                if (found.size() == limit && !found.containsKey(name)) {
                  return CompletableFuture.completedFuture(found);
                }
                found.computeIfAbsent(name, n -> new ArrayList<>()).add(Entry.of(each));
              }
              if (!read.isMore()) {
                return CompletableFuture.completedFuture(found);
              }
              ByteSequence last = read.getKvs().get(read.getKvs().size() - 1).getKey();
              ByteSequence next = last.concat(ByteSequence.from(new byte[] {0}));
              long at = revision == 0 ? read.getHeader().getRevision() : revision;
              return page(next, end, at, limit, found);
            });
  }

  private CompletableFuture<List<NameState>> states(Map<String, List<Entry>> names) {
    Map<Long, CompletableFuture<Duration>> left = new HashMap<>();
    for (List<Entry> entries : names.values()) {
      for (Entry holder : LockQueue.holders(entries)) {
        left.computeIfAbsent(holder.leaseId(), this::left);
      }
    }
    return CompletableFuture.allOf(left.values().toArray(CompletableFuture<?>[]::new))
        .thenApply(
            done ->
                names.entrySet().stream()
                    .map(each -> state(each.getKey(), each.getValue(), left))
                    .toList());
  }

  private CompletableFuture<Duration> left(long leaseId) {
    return etcd.timeToLive(leaseId, false).thenApply(Inspector::remaining);
  }

  /** What is left of a lease: etcd tells whole seconds, rounded down. */
  static Duration remaining(LeaseTimeToLiveResponse answer) {
    if (answer.getTTL() < 0) {
      return Duration.ZERO;
    }
    Duration half = Duration.ofSeconds(answer.getTTL()).plusMillis(500);
    Duration whole = Duration.ofSeconds(answer.getGrantedTTL());
    return half.compareTo(whole) < 0 ? half : whole;
  }

  private static NameState state(
      String name, List<Entry> entries, Map<Long, CompletableFuture<Duration>> left) {
    List<Entry> holders = LockQueue.holders(entries);
    List<Entry> waiters =
        entries.stream()
            // One that tries is about to leave again: it waits for nothing.
            .filter(entry -> !holders.contains(entry))
            .filter(entry -> entry.value().standing() != Entry.Standing.TRIES)
            .sorted(Comparator.comparingLong(Entry::created))
            .toList();
    return new NameState(
        name,
        holders.stream().map(holder -> holder(holder, left)).toList(),
        waiters.stream().map(Inspector::waiter).toList());
  }

  private static NameState.Holder holder(Entry entry, Map<Long, CompletableFuture<Duration>> left) {
    Entry.Value value = entry.value();
    CompletableFuture<Duration> remaining = left.get(entry.leaseId());
    return new NameState.Holder(
        value.id(),
        value.client(),
        value.mode(),
        entry.created(),
        Instant.ofEpochMilli(value.sinceMillis()),
        remaining == null ? Duration.ZERO : remaining.join());
  }

  private static NameState.Waiter waiter(Entry entry) {
    Entry.Value value = entry.value();
    return new NameState.Waiter(
        value.id(), value.client(), value.mode(), Instant.ofEpochMilli(value.sinceMillis()));
  }

  // Touching. -----------------------------------------------------------------------------------

  /** Takes away what is left of a claim that nobody here knows any more. */
  CompletableFuture<Void> remove(ClaimRequest request) {
    return entries(request.name())
        .thenCompose(
            found ->
                CompletableFuture.allOf(
                    found.stream()
                        .filter(e -> e.value().secret().equals(request.owner().secret()))
                        .map(this::delete)
                        .toArray(CompletableFuture<?>[]::new)));
  }

  /** Gives a grant back that nobody here knows any more. */
  CompletableFuture<Boolean> release(ReleaseRequest request) {
    String secret = request.grant().claim().owner().secret();
    return end(
        request.grant().claim().name(),
        holder ->
            holder.created() == request.grant().number() && holder.value().secret().equals(secret),
        holder -> request.keepClosed());
  }

  /** Ends a grant, after its lock-delay if it has one. */
  CompletableFuture<Boolean> forceRelease(String name, long number) {
    return end(name, holder -> holder.created() == number, holder -> holder.value().delay());
  }

  private CompletableFuture<Boolean> end(
      String name, Predicate<Entry> which, Function<Entry, Duration> closed) {
    return entries(name)
        .thenCompose(
            found -> {
              for (Entry holder : LockQueue.holders(found)) {
                if (!holder.value().hasEnded() && which.test(holder)) {
                  Duration after = closed.apply(holder);
                  return after.isZero() ? delete(holder) : keepClosed(holder, after);
                }
              }
              return CompletableFuture.completedFuture(false);
            });
  }

  private CompletableFuture<Boolean> delete(Entry entry) {
    return changed(entry, Op.delete(entry.key(), DeleteOption.DEFAULT));
  }

  private CompletableFuture<Boolean> keepClosed(Entry entry, Duration closed) {
    return etcd.grant(ServerLease.seconds(closed))
        .thenCompose(
            lease ->
                changed(
                    entry,
                    Op.put(
                        entry.key(),
                        entry.value().ended().bytes(),
                        PutOption.builder().withLeaseId(lease.getID()).build())));
  }

  private CompletableFuture<Boolean> changed(Entry entry, Op change) {
    return changed(entry, change, ATTEMPTS);
  }

  /** Changes the key as it was seen; if it has changed since and still has its owner, as it is. */
  private CompletableFuture<Boolean> changed(Entry entry, Op change, int attempts) {
    List<Cmp> asSeen =
        List.of(
            new Cmp(entry.key(), Cmp.Op.EQUAL, CmpTarget.createRevision(entry.created())),
            new Cmp(entry.key(), Cmp.Op.EQUAL, CmpTarget.modRevision(entry.changed())));
    Op read = Op.get(entry.key(), GetOption.DEFAULT);
    return etcd.within(etcd.txn(asSeen, List.of(change), List.of(read)), "A forced release")
        .thenCompose(
            answer -> {
              if (answer.isSucceeded()) {
                return CompletableFuture.completedFuture(true);
              }
              for (Entry found : LockQueue.found(answer.getGetResponses())) {
                if (found.created() == entry.created() && !found.value().hasEnded()) {
                  return attempts == 1
                      ? CompletableFuture.failedFuture(
                          etcd.unavailable("The key was changed again and again", null))
                      : changed(found, change, attempts - 1);
                }
              }
              return CompletableFuture.completedFuture(false);
            });
  }
}
