package io.fenceline.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.lease.LeaseGrantResponse;
import io.etcd.jetcd.lease.LeaseTimeToLiveResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.LeaseOption;
import io.etcd.jetcd.options.WatchOption;
import io.fenceline.StoreUnavailableException;
import io.fenceline.spi.AnswerTimeouts;
import io.fenceline.spi.Causes;
import io.fenceline.spi.StoreContext;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The requests that are made of etcd, each with a bound in time and with errors that say whether it
 * may have been done: {@link StoreUnavailableException} if so, {@link Failures.LeaseGoneException}
 * and {@link Failures.RejectedException} if not.
 *
 * <p>What keeps leases alive goes by a {@link Connection} of its own, if the client is ours: claims
 * that pile up, or a connection that is stuck with them, must not cost the holds that there are.
 */
final class EtcdClient implements AutoCloseable {
  private final StoreContext context;
  private final String description;
  private final Connection claims;
  private final Connection leases;
  private final AnswerTimeouts timeouts;
  private final WatchPool watches;
  private volatile boolean closed;

  /**
   * Over a client.
   *
   * @param owned whether the connector makes clients that are ours to close and to replace
   */
  EtcdClient(StoreContext context, String description, Supplier<Client> connector, boolean owned) {
    this.context = context;
    this.description = description;
    this.claims = new Connection(context.time(), connector, owned);
    this.timeouts = new AnswerTimeouts(context.time(), context.operationTimeout().toNanos());
    this.watches = new WatchPool(context.time());
    this.leases = owned ? new Connection(context.time(), connector, true) : claims;
  }

  String description() {
    return description;
  }

  StoreContext context() {
    return context;
  }

  Client client() {
    return claims.client();
  }

  // Requests. -----------------------------------------------------------------------------------

  /** A transaction; not bounded: the caller may want to know of a late answer. */
  CompletableFuture<TxnResponse> txn(Cmp condition, List<Op> then, List<Op> otherwise) {
    return txn(List.of(condition), then, otherwise);
  }

  /** As above, if all of these hold. */
  CompletableFuture<TxnResponse> txn(List<Cmp> conditions, List<Op> then, List<Op> otherwise) {
    return heard(
        claims,
        c -> {
          KV kv = c.getKVClient();
          return kv.txn()
              .If(conditions.toArray(Cmp[]::new))
              .Then(then.toArray(Op[]::new))
              .Else(otherwise.toArray(Op[]::new))
              .commit();
        });
  }

  /**
   * Deletes a key, whatever is in it; not bounded.
   *
   * @return whether it was there
   */
  CompletableFuture<Boolean> delete(ByteSequence key) {
    return heard(claims, c -> c.getKVClient().delete(key)).thenApply(done -> done.getDeleted() > 0);
  }

  CompletableFuture<GetResponse> get(ByteSequence key, GetOption option) {
    return within(heard(claims, c -> c.getKVClient().get(key, option)), "A read");
  }

  CompletableFuture<LeaseGrantResponse> grant(long ttlSeconds) {
    return grant(ttlSeconds, context.operationTimeout());
  }

  CompletableFuture<LeaseGrantResponse> grant(long ttlSeconds, Duration patience) {
    return ofLeaseWithin(
        heard(leases, c -> c.getLeaseClient().grant(ttlSeconds)),
        patience.toNanos(),
        "The grant of a lease");
  }

  /** Ends a lease with all its keys; one that is gone already is as good. */
  CompletableFuture<Void> revoke(long leaseId) {
    return ofLease(c -> c.getLeaseClient().revoke(leaseId), "The revocation of a lease")
        .handle(
            (done, failure) -> {
              if (failure != null
                  && !(Causes.unwrap(failure) instanceof Failures.LeaseGoneException)) {
                throw new CompletionException(Causes.unwrap(failure));
              }
              return null;
            });
  }

  /** Restarts a lease; not bounded. */
  CompletableFuture<Long> keepAlive(long leaseId) {
    CompletableFuture<Long> answer =
        heard(leases, c -> c.getLeaseClient().keepAliveOnce(leaseId)).thenApply(r -> r.getTTL());
    answer.exceptionally(
        failure -> {
          if (Causes.unwrap(failure) instanceof Failures.RejectedException) {
            // jetcd asks for a new token after other requests only, not after this one.
            timeToLive(leaseId, false);
          }
          return 0L;
        });
    return answer;
  }

  CompletableFuture<LeaseTimeToLiveResponse> timeToLive(long leaseId, boolean keys) {
    LeaseOption option =
        keys ? LeaseOption.builder().withAttachedKeys().build() : LeaseOption.DEFAULT;
    return ofLease(c -> c.getLeaseClient().timeToLive(leaseId, option), "A look at a lease");
  }

  private <T> CompletableFuture<T> ofLease(
      Function<Client, CompletableFuture<T>> request, String what) {
    return ofLeaseWithin(heard(leases, request), context.operationTimeout().toNanos(), what);
  }

  Watch.Watcher watch(ByteSequence key, WatchOption option, Watch.Listener listener) {
    return claims.client().getWatchClient().watch(key, option, listener);
  }

  /** Watches that are open, for a wait to go on with. */
  WatchPool watches() {
    return watches;
  }

  // Answers. ------------------------------------------------------------------------------------

  private <T> CompletableFuture<T> heard(
      Connection connection, Function<Client, CompletableFuture<T>> request) {
    if (closed) {
      return CompletableFuture.failedFuture(unavailable("The store is closed", null));
    }
    CompletableFuture<T> answer;
    try {
      answer = request.apply(connection.client());
    } catch (RuntimeException e) {
      answer = CompletableFuture.failedFuture(e);
    }
    return answer.handle(
        (given, failure) -> {
          if (failure == null) {
            connection.heard();
            return given;
          }
          throw new CompletionException(meaning(connection, failure));
        });
  }

  /** The answer, or a failure if it does not come in time. */
  <T> CompletableFuture<T> within(CompletableFuture<T> answer, String what) {
    return timeouts.bound(
        answer,
        () -> {
          claims.notHeard();
          return unavailable(what + " was not answered", null);
        });
  }

  /** As above, with a time of its own. */
  <T> CompletableFuture<T> within(CompletableFuture<T> answer, long nanos, String what) {
    return within(claims, answer, nanos, what);
  }

  /** As {@link #within}, for what was asked of a lease. */
  <T> CompletableFuture<T> ofLeaseWithin(CompletableFuture<T> answer, long nanos, String what) {
    return within(leases, answer, nanos, what);
  }

  private <T> CompletableFuture<T> within(
      Connection connection, CompletableFuture<T> answer, long nanos, String what) {
    if (answer.isDone()) {
      return answer;
    }
    CompletableFuture<T> bounded = answer.copy();
    Time.Timer timer =
        context
            .time()
            .schedule(
                nanos,
                () -> {
                  if (bounded.completeExceptionally(
                      unavailable(what + " was not answered", null))) {
                    connection.notHeard();
                  }
                });
    return bounded.whenComplete((given, failure) -> timer.cancel());
  }

  StoreUnavailableException unavailable(String what, @Nullable Throwable cause) {
    return new StoreUnavailableException(description, what, cause);
  }

  private RuntimeException meaning(Connection connection, Throwable failure) {
    RuntimeException meaning = Failures.of(description, failure);
    if (meaning instanceof StoreUnavailableException) {
      connection.notHeard();
    } else {
      connection.heard();
    }
    return meaning;
  }

  /** Returns what a request failed with, for the runtime. */
  RuntimeException told(String what, Throwable failure) {
    return Failures.told(description, what, failure);
  }

  @Override
  public void close() {
    closed = true;
    watches.close();
    claims.close();
    if (leases != claims) {
      leases.close();
    }
  }
}
