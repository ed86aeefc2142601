package io.fenceline.etcd;

import io.fenceline.spi.Causes;
import io.fenceline.time.Moment;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A lease at the server, and since when it runs as far as we know: from before the sending of its
 * last answered keep-alive, or of its grant.
 *
 * <p>Keep-alives that are asked for while one is under way share its answer.
 */
final class ServerLease {
  private static final int ATTEMPT_SHARE = 6;
  private static final long SHORTEST_ATTEMPT_NANOS = 100_000_000;

  final long id;
  final long ttlSeconds;
  private final EtcdClient etcd;
  private volatile Moment from;
  private volatile boolean gone;

  // Guarded by this.
  private @Nullable CompletableFuture<Moment> underWay;

  private ServerLease(EtcdClient etcd, long id, long ttlSeconds, Moment from) {
    this.etcd = etcd;
    this.id = id;
    this.ttlSeconds = ttlSeconds;
    this.from = from;
  }

  static CompletableFuture<ServerLease> grant(EtcdClient etcd, long ttlSeconds) {
    Moment sent = etcd.context().time().now();
    return etcd.grant(ttlSeconds)
        .thenApply(granted -> new ServerLease(etcd, granted.getID(), granted.getTTL(), sent));
  }

  /** Since when it runs, at least. */
  Moment from() {
    return from;
  }

  /** Whether the server has said that it is no more. */
  boolean isGone() {
    return gone;
  }

  void markGone() {
    gone = true;
  }

  /** How long it can still be counted on for something that lasts so long from its start. */
  long remainingNanos(long lengthNanos) {
    Moment now = etcd.context().time().now();
    long wall = (now.wallMillis() - from.wallMillis()) * 1_000_000;
    return lengthNanos - Math.max(now.nanos() - from.nanos(), wall);
  }

  /**
   * Starts it again.
   *
   * @return since when it runs then; fails with {@link Failures.LeaseGoneException} if it is gone
   */
  CompletableFuture<Moment> keepAlive() {
    CompletableFuture<Moment> answer = new CompletableFuture<>();
    synchronized (this) {
      if (gone) {
        return CompletableFuture.failedFuture(new Failures.LeaseGoneException());
      }
      if (underWay != null) {
        return underWay;
      }
      underWay = answer;
    }
    Time time = etcd.context().time();
    Moment sent = time.now();
    CompletableFuture<Moment> raw = etcd.keepAlive(id).thenApply(ttl -> renewed(sent));
    // Not for as long as other requests: another try, maybe at another server, must have its time.
    long patience =
        Math.min(
            etcd.context().operationTimeout().toNanos(),
            Math.max(SHORTEST_ATTEMPT_NANOS, ttlSeconds * 1_000_000_000L / ATTEMPT_SHARE));
    etcd.ofLeaseWithin(raw, patience, "A keep-alive")
        .whenComplete(
            (since, failure) -> {
              Throwable cause = failure == null ? null : Causes.unwrap(failure);
              synchronized (this) {
                underWay = null;
                gone |= cause instanceof Failures.LeaseGoneException;
              }
              if (cause == null) {
                answer.complete(since);
              } else {
                answer.completeExceptionally(cause);
              }
            });
    return answer;
  }

  private synchronized Moment renewed(Moment sent) {
    if (sent.nanos() - from.nanos() > 0) {
      from = sent;
    }
    return from;
  }

  /** Whole seconds that are no less than a time: what etcd counts in. */
  static long seconds(Duration atLeast) {
    return Math.max(1, (atLeast.toMillis() + 999) / 1_000);
  }
}
