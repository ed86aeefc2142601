package io.fenceline.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.common.exception.EtcdException;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.lease.LeaseGrantResponse;
import io.etcd.jetcd.lease.LeaseTimeToLiveResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.LeaseOption;
import io.etcd.jetcd.options.WatchOption;
import io.fenceline.FencelineException;
import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.spi.Patience;
import io.fenceline.spi.StoreContext;
import io.fenceline.time.Time;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The requests that are made of etcd, each with a bound in time and with errors that say whether it
 * may have been done: {@link StoreUnavailableException} if so, {@link LeaseGoneException} and
 * {@link RejectedException} if not.
 *
 * <p>What keeps leases alive goes by a {@link Connection} of its own, if the client is ours: claims
 * that pile up, or a connection that is stuck with them, must not cost the holds that there are.
 */
final class Etcd implements AutoCloseable {
  /** The lease that a request names does not exist: it was not done. */
  static final class LeaseGoneException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    LeaseGoneException() {
      super("the lease is gone", null, false, false);
    }
  }

  /** The server said no: it was not done. */
  static final class RejectedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    RejectedException(String why, Throwable cause) {
      super(why, cause, false, false);
    }
  }

  private final StoreContext context;
  private final String description;
  private final Connection claims;
  private final Connection leases;
  private final Patience patience;
  private volatile boolean closed;

  /**
   * Over a client.
   *
   * @param owned whether the connector makes clients that are ours to close and to replace
   */
  Etcd(StoreContext context, String description, Supplier<Client> connector, boolean owned) {
    this.context = context;
    this.description = description;
    this.claims = new Connection(context.time(), connector, owned);
    this.patience = new Patience(context.time(), context.operationTimeout().toNanos());
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
              if (failure != null && !(cause(failure) instanceof LeaseGoneException)) {
                throw new CompletionException(cause(failure));
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
          if (cause(failure) instanceof RejectedException) {
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
    return patience.bound(
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

  /** What a failure is without its wrapping. */
  static Throwable cause(Throwable failure) {
    Throwable cause = failure;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  private RuntimeException meaning(Connection connection, Throwable failure) {
    Throwable cause = cause(failure);
    Status status = status(cause);
    String described = status.getDescription();
    // A login that failed is told by its cause only.
    String said = described == null ? said(root(cause)) : described;
    if (status.getCode() == Status.Code.NOT_FOUND) {
      connection.heard();
      return new LeaseGoneException();
    }
    if (isRefusal(status.getCode(), said)) {
      connection.heard();
      return new RejectedException(said, cause);
    }
    connection.notHeard();
    return unavailable(silence(status.getCode() + ", " + said + behind(cause)), cause);
  }

  private static String silence(String said) {
    if (said.contains("etcdserver:")) {
      return "etcd can't work now: " + said;
    } else if (said.contains("Connection refused")) {
      return "etcd gave no answer: nothing listens there; check host and port, and that it runs ["
          + said
          + "]";
    } else if (said.contains("unresolved address")) {
      return "etcd gave no answer: the host is not known; check the address [" + said + "]";
    }
    return "etcd gave no answer: " + said;
  }

  /** The reason that gRPC has, and does not tell: "io exception", and no more. */
  private static String behind(Throwable cause) {
    Throwable root = root(cause);
    return root == cause || said(cause).contains(said(root)) ? "" : ": " + said(root);
  }

  private static Throwable root(Throwable cause) {
    Throwable root = cause;
    for (int depth = 0; root.getCause() != null && depth < 20; depth++) {
      root = root.getCause();
    }
    return root;
  }

  private static String said(Throwable failure) {
    String message = failure.getMessage();
    return message == null ? failure.getClass().getSimpleName() : message;
  }

  /**
   * What a request failed with, for the runtime. What is refused for good was not done; a token
   * that has run out, or too many requests at once, is no such refusal.
   */
  RuntimeException told(String what, Throwable failure) {
    Throwable cause = cause(failure);
    if (cause instanceof FencelineException known) {
      return known;
    }
    String said = String.valueOf(cause.getMessage());
    String advice = advice(said);
    return cause instanceof RejectedException && advice != null
        ? new StoreRefusedException(
            "%s failed: %s [%s] (store=%s)".formatted(what, advice, said, description), cause)
        : unavailable(what + " failed: " + said, cause);
  }

  private static @Nullable String advice(String said) {
    if (said.contains("permission denied")) {
      return "the user lacks a right; grant it readwrite on the prefix, see docs/least-rights.md";
    } else if (said.contains("invalid user ID or password")
        || said.contains("user name is empty")) {
      return "etcd refused the login; check user and password";
    } else if (said.contains("database space exceeded")) {
      return "etcd's space is used up; compact and defragment it, or raise its quota";
    } else if (said.contains("authentication is not enabled")) {
      return "etcd knows no users; leave user and password out";
    }
    return null;
  }

  /**
   * Whether the server itself has refused; gRPC gives some of these codes for reasons of its own.
   */
  private static boolean isRefusal(Status.Code code, String said) {
    return switch (code) {
      case UNAUTHENTICATED -> true;
      case PERMISSION_DENIED,
          INVALID_ARGUMENT,
          RESOURCE_EXHAUSTED,
          FAILED_PRECONDITION,
          OUT_OF_RANGE ->
          said.startsWith("etcdserver:");
      default -> false;
    };
  }

  private static Status status(Throwable cause) {
    if (cause instanceof EtcdException own) {
      return Status.fromCode(Status.Code.valueOf(own.getErrorCode().name()))
          .withDescription(own.getMessage());
    }
    return Status.fromThrowable(cause);
  }

  @Override
  public void close() {
    closed = true;
    claims.close();
    if (leases != claims) {
      leases.close();
    }
  }
}
