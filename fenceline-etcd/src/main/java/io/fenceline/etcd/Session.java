package io.fenceline.etcd;

import io.etcd.jetcd.ByteSequence;
import io.fenceline.spi.Causes;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.Validity;
import io.fenceline.time.Lane;
import io.fenceline.time.Moment;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A lease at the server with the keys that live on it, kept alive by us.
 *
 * <p>The keys of a process that dies, those of its waiters too, end with this lease at the server:
 * nobody has to remove them.
 *
 * <p>A shared session carries all holds of one lease and lock-delay: a thousand of them cost one
 * keep-alive each third of a lease. A fixed lease has a session of its own, which is kept alive
 * only as long as its claim waits.
 */
final class Session {
  /*
   * What would break it, and why it can't:
   *
   * - A hold that outlives the lease: what a hold may believe counts from before the sending of the
   *   last answered keep-alive, whenever the hold was acquired, and is shorter than the lease by the
   *   lock-delay.
   * - A key that nobody knows of and that we keep alive: the sweep lists the keys of the lease and
   *   deletes those that no claim of ours stands for. Where that can't be done for two leases though an
   *   outcome is unknown, the session is given up: nothing keeps it alive any more, no new claim is put
   *   on it, a claim that has its turn on it leaves, and when its term is over it ends here, too, and is
   *   revoked; the lease takes the key along.
   * - A hold that its holder has dropped without a word (a leak, or a loss with a lock-delay): it is not
   *   renewed by the runtime any more, and the sweep deletes it after its term.
   * - A session for one claim that was given up before the session was there: without a key it ends
   *   instead of being kept alive.
   * - A late keep-alive that revives a session that was given up: nothing is believed of it any more, and
   *   it ends after one more term.
   */

  private static final int KEEP_ALIVE_SHARE = 3;
  private static final int RETRY_SHARE = 12;
  private static final int FRESH_SHARE = 6;
  private static final int SWEEP_SHARE = 2;
  private static final Duration IDLE = Duration.ofMinutes(5);

  final ServerLease server;
  final Duration lease;
  final Duration delay;
  final boolean shared;
  private final EtcdClient etcd;
  private final Layout layout;
  private final Consumer<Session> whenEnded;
  private final Consumer<Session> whenGivenUp;
  private final Consumer<ClaimKey> whenLost;
  private final Sweeper sweep;
  private final Map<ByteSequence, ClaimKey> claimKeys = new ConcurrentHashMap<>();
  private volatile boolean ended;
  private volatile boolean keeping = true;
  private volatile boolean givenUp;
  private volatile long usedNanos;

  // Guarded by this.
  private final Map<String, BitSet> slots = new HashMap<>();
  private Time.@Nullable Timer keepAliveTimer;
  private Time.@Nullable Timer sweepTimer;

  Session(
      EtcdClient etcd,
      Layout layout,
      ServerLease server,
      Duration lease,
      Duration delay,
      boolean shared,
      Consumer<Session> whenEnded,
      Consumer<Session> whenGivenUp,
      Consumer<ClaimKey> whenLost) {
    this.etcd = etcd;
    this.layout = layout;
    this.server = server;
    this.lease = lease;
    this.delay = delay;
    this.shared = shared;
    this.whenEnded = whenEnded;
    this.whenGivenUp = whenGivenUp;
    this.whenLost = whenLost;
    this.sweep = new Sweeper(etcd, this);
    this.usedNanos = time().nanos();
  }

  private Time time() {
    return etcd.context().time();
  }

  void start() {
    keepAliveIn(lease.toNanos() / KEEP_ALIVE_SHARE);
    if (shared) {
      sweepIn();
    }
  }

  /** Whether claims can be put on it: it has not ended and will not be let end. */
  boolean isOpen() {
    return !ended && !givenUp;
  }

  /** Whether half of a lease is left, at least: what a new hold should start with. */
  boolean isFresh() {
    return isOpen() && server.remainingNanos(lease.toNanos()) >= lease.toNanos() / 2;
  }

  /** What a hold of this session may believe now. */
  Validity validity() {
    return new Validity(server.from(), lease);
  }

  // Keys. ---------------------------------------------------------------------------------------

  /** A key for a claim: of the lowest slot that is free for its name. */
  ClaimKey open(ClaimRequest request) {
    Entry.Value value = Entry.Value.of(request, time().wallMillis(), etcd.context().client());
    synchronized (this) {
      BitSet taken = slots.computeIfAbsent(request.name(), name -> new BitSet());
      int slot = taken.nextClearBit(0);
      taken.set(slot);
      usedNanos = time().nanos();
      ByteSequence key = layout.claim(request.name(), server.id, slot);
      ClaimKey claimKey = new ClaimKey(etcd, this, request, key, value.bytes(), slot);
      claimKeys.put(key, claimKey);
      return claimKey;
    }
  }

  /** A key that was moved here. */
  void adopt(ClaimKey claimKey) {
    claimKeys.put(claimKey.key, claimKey);
  }

  /** The key is gone; its slot may be used again if it can't come back. */
  void close(ClaimKey claimKey) {
    boolean reusable = claimKey.retire();
    if (!claimKeys.remove(claimKey.key, claimKey)) {
      return;
    }
    if (reusable) {
      synchronized (this) {
        BitSet taken = slots.get(claimKey.request.name());
        if (taken != null) {
          taken.clear(claimKey.slot);
          if (taken.isEmpty()) {
            slots.remove(claimKey.request.name());
          }
        }
      }
    } else if (claimKey.doubtful) {
      sweep.expect();
    }
  }

  /** The key has left, or was never ours; its slot is not used again. */
  void abandon(ClaimKey claimKey) {
    if (claimKeys.remove(claimKey.key, claimKey) && claimKey.doubtful) {
      sweep.expect();
    }
  }

  /** The key was found to be gone, or to be no longer ours. */
  void lost(ClaimKey claimKey) {
    close(claimKey);
    whenLost.accept(claimKey);
  }

  @Nullable ClaimKey keyOf(ByteSequence key) {
    return claimKeys.get(key);
  }

  Collection<ClaimKey> claimKeys() {
    return List.copyOf(claimKeys.values());
  }

  // Life. ---------------------------------------------------------------------------------------

  /** Starts the lease again, or says that it was started just now. */
  CompletableFuture<Renewal> renew(Duration length) {
    if (ended) {
      return CompletableFuture.completedFuture(Renewal.GONE);
    }
    Moment from = server.from();
    if (shared && !givenUp && time().nanos() - from.nanos() < lease.toNanos() / FRESH_SHARE) {
      return CompletableFuture.completedFuture(new Renewal.Renewed(new Validity(from, length)));
    }
    return keepAlive()
        .handle(
            (since, failure) -> {
              if (failure == null) {
                return new Renewal.Renewed(new Validity(since, length));
              }
              if (Causes.unwrap(failure) instanceof Failures.LeaseGoneException) {
                return Renewal.GONE;
              }
              throw new CompletionException(Causes.unwrap(failure));
            });
  }

  /** Sends a keep-alive or joins the one under way; a lease that is gone ends the session. */
  CompletableFuture<Moment> keepAlive() {
    if (givenUp) {
      return CompletableFuture.failedFuture(
          etcd.unavailable("The session is given up: its keys could not be listed", null));
    }
    return server
        .keepAlive()
        .whenComplete(
            (since, failure) -> {
              if (failure != null
                  && Causes.unwrap(failure) instanceof Failures.LeaseGoneException) {
                end();
              }
            });
  }

  /** From now on it is not kept alive by itself; it ends when its term is over. */
  void letRun() {
    keeping = false;
    cancelTimers();
    endWhenOver();
  }

  /** Its keys can't be listed, though one may be there that nobody stands for. */
  void giveUp() {
    givenUp = true;
    whenGivenUp.accept(this);
    letRun();
  }

  private long leftNanos() {
    return server.ttlSeconds * 1_000_000_000L - (time().nanos() - server.from().nanos());
  }

  private void endWhenOver() {
    long left = leftNanos();
    if (left <= 0) {
      end();
      return;
    }
    Time.Timer timer =
        time().schedule(left, () -> time().lane(Lane.RENEWAL).execute(this::endWhenOver));
    synchronized (this) {
      keepAliveTimer = timer;
      if (ended) {
        timer.cancel();
      }
    }
  }

  private void keepAliveIn(long nanos) {
    Time.Timer timer = time().schedule(nanos, () -> time().lane(Lane.RENEWAL).execute(this::tick));
    synchronized (this) {
      keepAliveTimer = timer;
      if (ended || !keeping) {
        timer.cancel();
      }
    }
  }

  /** Keeps the lease alive, or ends it if nobody uses it. */
  void tick() {
    if (ended || !keeping) {
      return;
    }
    long age = time().nanos() - server.from().nanos();
    long interval = lease.toNanos() / KEEP_ALIVE_SHARE;
    if (leftNanos() <= 0) {
      end(); // The server may have it still; but nobody believes in it here.
      return;
    }
    if (endsIfUnused()) {
      afterEnd();
      return;
    }
    if (age < interval) {
      keepAliveIn(interval - age); // A hold has asked for it already.
      return;
    }
    keepAlive()
        .whenComplete(
            (since, failure) -> {
              if (!ended && keeping) {
                keepAliveIn(
                    failure == null
                        ? Math.max(0, interval - (time().nanos() - since.nanos()))
                        : Math.max(1_000_000, lease.toNanos() / RETRY_SHARE));
              }
            });
  }

  /** Under one monitor with {@link #open}: a key that comes meanwhile would end with it. */
  private synchronized boolean endsIfUnused() {
    boolean isIdle = !shared || time().nanos() - usedNanos > IDLE.toNanos();
    if (ended || !isIdle || !claimKeys.isEmpty()) {
      return false;
    }
    ended = true;
    return true;
  }

  /** Ends it: its claims are told, and what the server still has of it is taken away. */
  void end() {
    synchronized (this) {
      if (ended) {
        return;
      }
      ended = true;
    }
    afterEnd();
  }

  private void afterEnd() {
    cancelTimers();
    whenEnded.accept(this);
    // Nothing needs the lease any more: it ends here when the server has said that it is gone,
    // after
    // all of its term, which the lock-delay is part of, or when no key of a hold is on it.
    if (!server.isGone()) {
      revoke(time().nanos());
    }
    server.markGone();
  }

  private void revoke(long startedNanos) {
    etcd.revoke(server.id)
        .whenComplete(
            (done, failure) -> {
              boolean inTime =
                  time().nanos() - startedNanos < 2 * server.ttlSeconds * 1_000_000_000L;
              if (failure != null && inTime) {
                time()
                    .schedule(
                        lease.toNanos() / KEEP_ALIVE_SHARE,
                        () -> time().lane(Lane.WORK).execute(() -> revoke(startedNanos)));
              }
            });
  }

  private void sweepIn() {
    Time.Timer timer =
        time()
            .schedule(
                lease.toNanos() / SWEEP_SHARE,
                () ->
                    time()
                        .lane(Lane.RENEWAL)
                        .execute(
                            () -> {
                              if (!ended && keeping) {
                                sweep.run();
                                sweepIn();
                              }
                            }));
    synchronized (this) {
      sweepTimer = timer;
      if (ended || !keeping) {
        timer.cancel();
      }
    }
  }

  private synchronized void cancelTimers() {
    if (keepAliveTimer != null) {
      keepAliveTimer.cancel();
    }
    if (sweepTimer != null) {
      sweepTimer.cancel();
    }
  }

  /** Ends it without a word to anyone; the lease is revoked if nothing is on it. */
  CompletableFuture<Void> close() {
    synchronized (this) {
      if (ended) {
        return CompletableFuture.completedFuture(null);
      }
      ended = true;
    }
    cancelTimers();
    return claimKeys.isEmpty() ? etcd.revoke(server.id) : CompletableFuture.completedFuture(null);
  }
}
