package io.fenceline.memory;

import io.fenceline.StoreRefusedException;
import io.fenceline.spi.ClaimAnswer;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.GrantNumbers;
import io.fenceline.spi.HeldGrant;
import io.fenceline.spi.Mode;
import io.fenceline.spi.NameState;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Owner;
import io.fenceline.spi.Refusals;
import io.fenceline.spi.Release;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.RenewRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A server's table of names: holders and queues, by the server's own clock.
 *
 * <p>Every request first looks at the clock: grants that are over are ended, ends that lie further
 * ahead than their term is long are pulled in (the clock was set back), waiters that have not been
 * heard of are dropped, and whoever is next is granted. What was granted to waiters by that is
 * returned by {@link #takePushes}, for the caller to tell them.
 *
 * <p>Not thread-safe: a server does one thing at a time.
 */
public class LockTable {

  /**
   * A grant to a waiter, that it has to be told of.
   *
   * @param claim the claim that waited
   * @param number grant number
   * @param length how long it may be believed
   */
  public record Push(ClaimRequest claim, long number, Duration length) {}

  /** A grant that runs. */
  private static final class Holder {
    final ClaimRequest claim;
    final ClientInfo client;
    final long number;
    final long sinceMillis;
    long endMillis;
    long termMillis;

    /** Given back or taken away: it only keeps the name closed, and its owner can't touch it. */
    boolean ended;

    Holder(ClaimRequest claim, ClientInfo client, long number, long sinceMillis) {
      this.claim = claim;
      this.client = client;
      this.number = number;
      this.sinceMillis = sinceMillis;
    }

    Holder copy() {
      Holder copy = new Holder(claim, client, number, sinceMillis);
      copy.endMillis = endMillis;
      copy.termMillis = termMillis;
      copy.ended = ended;
      return copy;
    }

    void run(long nowMillis, long term) {
      termMillis = term;
      endMillis = nowMillis + term;
    }

    /** Starts the lease again, unless it runs for longer: an older request may come late. */
    void prolong(long nowMillis, long term) {
      if (nowMillis + term > endMillis) {
        run(nowMillis, term);
      }
    }
  }

  /** A claim that waits. */
  private static final class Queued {
    final ClaimRequest claim;
    final ClientInfo client;
    final long sinceMillis;
    long heardMillis;

    Queued(ClaimRequest claim, ClientInfo client, long sinceMillis) {
      this.claim = claim;
      this.client = client;
      this.sinceMillis = sinceMillis;
      this.heardMillis = sinceMillis;
    }

    Queued copy() {
      Queued copy = new Queued(claim, client, sinceMillis);
      copy.heardMillis = heardMillis;
      return copy;
    }
  }

  /** All of one name; there is none for a name that is free and not waited for. */
  private static final class Entry {
    final List<Holder> holders = new ArrayList<>(1);
    final List<Queued> queue = new ArrayList<>(0);

    boolean isEmpty() {
      return holders.isEmpty() && queue.isEmpty();
    }

    /** Whether nothing of it is left at that time. */
    boolean isOver(long nowMillis) {
      return holders.stream().allMatch(holder -> holder.endMillis <= nowMillis);
    }

    List<Mode> held() {
      return holders.stream().map(holder -> holder.claim.mode()).toList();
    }

    @Nullable Holder holder(Owner owner) {
      for (Holder holder : holders) {
        if (!holder.ended && holder.claim.owner().equals(owner)) {
          return holder;
        }
      }
      return null;
    }

    @Nullable Queued queued(Owner owner) {
      for (Queued waiting : queue) {
        if (waiting.claim.owner().equals(owner)) {
          return waiting;
        }
      }
      return null;
    }

    String family() {
      return holders.isEmpty()
          ? queue.get(0).claim.mode().family()
          : holders.get(0).claim.mode().family();
    }
  }

  private final LongSupplier clockMillis;
  private final Duration handOverTerm;
  private final Duration patience;
  private final Map<String, Entry> names = new HashMap<>();
  private final List<Push> pushes = new ArrayList<>();
  private long last;

  /**
   * An empty table.
   *
   * @param clockMillis the server's clock
   * @param handOverTerm how long a grant to a waiter runs until its first renewal, at most
   * @param patience how long a waiter stays in the queue without being heard of
   */
  public LockTable(LongSupplier clockMillis, Duration handOverTerm, Duration patience) {
    this.clockMillis = clockMillis;
    this.handOverTerm = handOverTerm;
    this.patience = patience;
  }

  /** All of it as it is now, for a server that comes back with an older state. */
  public LockTable copy() {
    LockTable copy = new LockTable(clockMillis, handOverTerm, patience);
    copy.last = last;
    names.forEach(
        (name, entry) -> {
          Entry same = new Entry();
          entry.holders.forEach(holder -> same.holders.add(holder.copy()));
          entry.queue.forEach(queued -> same.queue.add(queued.copy()));
          copy.names.put(name, same);
        });
    return copy;
  }

  // Requests. -----------------------------------------------------------------------------------

  /**
   * Claims a name; a repeat by the same owner starts its lease again, or keeps its place. Nothing
   * that is repeated makes a lease shorter.
   *
   * @throws StoreRefusedException if the name is in use in another way
   */
  public ClaimAnswer claim(ClaimRequest claim, ClientInfo client) {
    long now = clockMillis.getAsLong();
    Entry entry = names.computeIfAbsent(claim.name(), name -> new Entry());
    settle(claim.name(), entry, now);
    Holder holder = entry.holder(claim.owner());
    if (holder != null) {
      holder.prolong(now, claim.term().toMillis());
      return new ClaimAnswer.Granted(holder.number, claim.lease());
    }
    Queued queued = entry.queued(claim.owner());
    if (queued != null) {
      queued.heardMillis = now;
      return waiting(entry, now);
    }
    if (!entry.isEmpty() && !entry.family().equals(claim.mode().family())) {
      throw Refusals.otherKind(claim.name(), claim.mode().family(), entry.family());
    }
    names.put(claim.name(), entry);
    if (entry.queue.isEmpty() && claim.mode().fitsBeside(entry.held())) {
      Holder granted = grant(entry, claim, client, now);
      granted.run(now, claim.term().toMillis());
      return new ClaimAnswer.Granted(granted.number, claim.lease());
    }
    if (!claim.waits()) {
      return new ClaimAnswer.Refused(obstacle(entry, now));
    }
    entry.queue.add(new Queued(claim, client, now));
    return waiting(entry, now);
  }

  private ClaimAnswer waiting(Entry entry, long now) {
    return new ClaimAnswer.Waiting(obstacle(entry, now), OptionalLong.of(last));
  }

  /** Starts a lease again; false if the grant is gone. */
  public boolean renew(RenewRequest request) {
    ClaimRequest claim = request.grant().claim();
    long now = clockMillis.getAsLong();
    Entry entry = look(claim.name(), now);
    Holder holder = entry == null ? null : entry.holder(claim.owner());
    // Another number is another grant: a failover forgot ours, and the queue gave the name anew.
    if (holder == null || holder.number != request.grant().number()) {
      return false;
    }
    holder.prolong(now, request.lease().plus(claim.delay()).toMillis());
    return true;
  }

  /** Gives a grant back, at once or after a while. */
  public Release release(ReleaseRequest request) {
    HeldGrant grant = request.grant();
    String name = grant.claim().name();
    long now = clockMillis.getAsLong();
    Entry entry = look(name, now);
    Holder holder = entry == null ? null : entry.holder(grant.claim().owner());
    if (entry == null || holder == null) {
      return Release.GONE;
    }
    if (request.keepClosed().isZero()) {
      entry.holders.remove(holder);
    } else {
      holder.ended = true;
      holder.run(now, request.keepClosed().toMillis());
    }
    settle(name, entry, now);
    return Release.RELEASED;
  }

  /** Takes a claim away, be it waiting or granted. */
  public void withdraw(ClaimRequest claim) {
    long now = clockMillis.getAsLong();
    Entry entry = look(claim.name(), now);
    if (entry == null) {
      return;
    }
    entry.queue.removeIf(queued -> queued.claim.owner().equals(claim.owner()));
    entry.holders.removeIf(holder -> !holder.ended && holder.claim.owner().equals(claim.owner()));
    settle(claim.name(), entry, now);
  }

  /** Ends the grant with this number; with a lock-delay, after the delay. */
  public boolean forceRelease(String name, long number) {
    long now = clockMillis.getAsLong();
    Entry entry = look(name, now);
    if (entry == null) {
      return false;
    }
    for (Holder holder : entry.holders) {
      if (holder.number == number) {
        holder.ended = true;
        holder.run(now, Math.min(holder.endMillis - now, holder.claim.delay().toMillis()));
        settle(name, entry, now);
        return true;
      }
    }
    return false;
  }

  /** Returns who holds a name, and who waits. */
  public NameState inspect(String name) {
    long now = clockMillis.getAsLong();
    Entry entry = look(name, now);
    return entry == null ? NameState.free(name) : state(name, entry, now);
  }

  /** Names that are held or waited for, in byte order. */
  public List<NameState> list(String prefix, int limit) {
    List<String> found = new ArrayList<>(names.keySet());
    found.removeIf(name -> !name.startsWith(prefix));
    found.sort(
        (a, b) ->
            Arrays.compareUnsigned(
                a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8)));
    return found.stream()
        .map(this::inspect)
        .filter(state -> !state.holders().isEmpty() || !state.waiters().isEmpty())
        .limit(limit)
        .toList();
  }

  // Time. ---------------------------------------------------------------------------------------

  /** Does what time has brought, for a name that someone waits for. */
  public void settle(String name) {
    look(name, clockMillis.getAsLong());
  }

  /** Forgets the names whose last grant is over, and that nobody has asked for since. */
  public void sweep() {
    long now = clockMillis.getAsLong();
    names.values().removeIf(entry -> entry.queue.isEmpty() && entry.isOver(now));
  }

  /** Returns how long until something of a waited-for name ends; empty if nothing does. */
  public OptionalLong millisToNextEnd(String name) {
    Entry entry = names.get(name);
    if (entry == null || entry.queue.isEmpty()) {
      return OptionalLong.empty();
    }
    long now = clockMillis.getAsLong();
    return entry.holders.stream().mapToLong(holder -> Math.max(0, holder.endMillis - now)).min();
  }

  /** Returns the grants to waiters since the last call. */
  public List<Push> takePushes() {
    if (pushes.isEmpty()) {
      return List.of();
    }
    List<Push> taken = List.copyOf(pushes);
    pushes.clear();
    return taken;
  }

  private @Nullable Entry look(String name, long now) {
    Entry entry = names.get(name);
    if (entry != null) {
      settle(name, entry, now);
    }
    return entry;
  }

  private void settle(String name, Entry entry, long now) {
    for (Iterator<Holder> all = entry.holders.iterator(); all.hasNext(); ) {
      Holder holder = all.next();
      if (holder.endMillis - now > holder.termMillis) {
        holder.endMillis = now + holder.termMillis; // The clock was set back.
      }
      if (holder.endMillis <= now) {
        all.remove();
      }
    }
    for (Iterator<Queued> all = entry.queue.iterator(); all.hasNext(); ) {
      Queued queued = all.next();
      queued.heardMillis = Math.min(queued.heardMillis, now);
      if (now - queued.heardMillis > patience.toMillis()) {
        all.remove();
      }
    }
    while (!entry.queue.isEmpty() && entry.queue.get(0).claim.mode().fitsBeside(entry.held())) {
      Queued next = entry.queue.remove(0);
      Duration length = shorter(handOverTerm, next.claim.lease());
      Holder granted = grant(entry, next.claim, next.client, now);
      granted.run(now, length.plus(next.claim.delay()).toMillis());
      pushes.add(new Push(next.claim, granted.number, length));
    }
    if (entry.isEmpty()) {
      names.remove(name, entry);
    }
  }

  private Holder grant(Entry entry, ClaimRequest claim, ClientInfo client, long now) {
    last = nextNumber(last, now);
    Holder granted = new Holder(claim, client, last, now);
    entry.holders.add(granted);
    return granted;
  }

  /** The number of the next grant. */
  protected long nextNumber(long lastNumber, long nowMillis) {
    return GrantNumbers.next(lastNumber, nowMillis);
  }

  private static Duration shorter(Duration a, Duration b) {
    return a.compareTo(b) <= 0 ? a : b;
  }

  // Views. --------------------------------------------------------------------------------------

  private static Obstacle obstacle(Entry entry, long now) {
    Optional<Holder> first = entry.holders.stream().findFirst();
    return first
        .map(
            holder ->
                new Obstacle(
                    holder.client.label(),
                    holder.number,
                    Duration.ofMillis(holder.endMillis - now)))
        .orElse(Obstacle.UNKNOWN);
  }

  private static NameState state(String name, Entry entry, long now) {
    return new NameState(
        name,
        entry.holders.stream()
            .map(
                holder ->
                    new NameState.Holder(
                        holder.claim.owner().id(),
                        holder.client,
                        holder.claim.mode(),
                        holder.number,
                        Instant.ofEpochMilli(holder.sinceMillis),
                        Duration.ofMillis(holder.endMillis - now)))
            .toList(),
        entry.queue.stream()
            .map(
                queued ->
                    new NameState.Waiter(
                        queued.claim.owner().id(),
                        queued.client,
                        queued.claim.mode(),
                        Instant.ofEpochMilli(queued.sinceMillis)))
            .toList());
  }

  /** Returns how many names there is anything of. */
  public int size() {
    return names.size();
  }

  /** Returns the last grant number. */
  public long lastNumber() {
    return last;
  }
}
