package io.fenceline.redis.redlock;

import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Validity;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.util.BitSet;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A claim at a Redlock: one attempt after the other, with a random pause between them.
 *
 * <p>There is no queue, since independent servers can't agree on one. Whoever waits asks again, or
 * when a majority of nodes has told that the name got free; the pauses are random, so that claims
 * that meet do not meet again.
 */
final class RedlockClaim {
  private static final int MOST_CONTESTED_TRIES = 12;
  private static final long MILLI = 1_000_000;

  private final ClaimRequest request;
  private final ClaimHandler handler;
  private final Nodes nodes;
  private final RedlockClaims claims;
  private final long startNanos;

  // Guarded by this.
  private final BitSet hints = new BitSet();
  private Time.@Nullable Timer timer;
  private @Nullable PermitSlots slots;
  private CompletableFuture<Void> attempt = CompletableFuture.completedFuture(null);
  private boolean asking;
  private boolean over;
  private int contested;

  /** A claim that has not been asked for yet. */
  RedlockClaim(ClaimRequest request, ClaimHandler handler, RedlockClaims claims) {
    this.request = request;
    this.handler = handler;
    this.claims = claims;
    this.nodes = claims.nodes;
    this.startNanos = nodes.context.time().nanos();
  }

  /** Those that the owner has already, if the claim is a repeat. */
  private PermitSlots firstSlots() {
    PermitSlots held = claims.holds.slots(request.owner());
    return held.chosen().isEmpty() ? PermitSlots.any(request.mode(), nodes.context.random()) : held;
  }

  ClaimRequest request() {
    return request;
  }

  /** Starts an attempt, unless one is under way. */
  void ask() {
    PermitSlots wanted;
    CompletableFuture<Void> underWay = new CompletableFuture<>();
    synchronized (this) {
      if (over || asking) {
        return;
      }
      asking = true;
      attempt = underWay;
      hints.clear();
      cancelTimer();
      if (slots == null) {
        slots = firstSlots();
      }
      wanted = slots;
    }
    claims
        .ballot(request, wanted)
        .run()
        .thenAccept(outcome -> decided(outcome, wanted))
        .whenComplete((done, failure) -> underWay.complete(null));
  }

  /** Completes when the attempt that is under way is over; at once if there is none. */
  synchronized CompletableFuture<Void> attempt() {
    return attempt;
  }

  /** A node has told that the name got free: a hint, that counts when a majority says so. */
  void hint(int node) {
    synchronized (this) {
      hints.set(node);
      if (over || asking || hints.cardinality() < nodes.majority) {
        return;
      }
      cancelTimer();
      askLater(random(3 * MILLI));
    }
  }

  /** The claim was withdrawn. */
  void stop() {
    synchronized (this) {
      over = true;
      cancelTimer();
    }
    claims.remove(this);
  }

  void fail(RuntimeException cause) {
    stop();
    handler.failed(cause);
  }

  private void decided(Ballot.Outcome outcome, PermitSlots asked) {
    if (outcome instanceof Ballot.Won won) {
      claims.holds.won(request.owner(), asked, request.term());
      stop(); // Reported even if it crossed a withdrawal: the runtime undoes what it does not want.
      handler.granted(new Grant(won.number(), new Validity(won.sent(), request.lease())));
    } else if (outcome instanceof Ballot.Lost lost) {
      lost(lost);
    } else if (outcome instanceof Ballot.Undecided undecided) {
      undecided(undecided);
    } else if (outcome instanceof Ballot.Impossible impossible && endsNow()) {
      handler.failed(impossible.cause());
    }
  }

  private void lost(Ballot.Lost lost) {
    boolean ends;
    synchronized (this) {
      asking = false;
      contested = lost.contested() ? contested + 1 : 0;
      if (!lost.next().chosen().isEmpty()) {
        slots = lost.next();
      }
      if (over) {
        return;
      }
      ends = !request.waits() && (!lost.contested() || contested > MOST_CONTESTED_TRIES);
      if (!ends) {
        boolean told = hints.cardinality() >= nodes.majority;
        askLater(lost.contested() || told ? shortPause() : longPause(lost.obstacle()));
      }
    }
    if (ends) {
      if (endsNow()) {
        handler.refused(lost.obstacle());
      }
    } else if (request.waits() && !lost.contested()) {
      handler.waiting(lost.obstacle());
      claims.listen();
    }
  }

  /**
   * Who did not get an answer tries again for a while; a claim that waits leaves it to its caller.
   */
  private void undecided(Ballot.Undecided undecided) {
    long used = nodes.context.time().nanos() - startNanos;
    boolean again = used < nodes.context.operationTimeout().toNanos() / 2;
    synchronized (this) {
      asking = false;
      if (over) {
        return;
      }
      if (again) {
        contested++;
        askLater(shortPause() + 10 * MILLI);
      }
    }
    if (!again && endsNow()) {
      handler.failed(undecided.cause());
    }
  }

  private boolean endsNow() {
    boolean first;
    synchronized (this) {
      first = !over;
    }
    stop();
    return first;
  }

  // Pauses. -------------------------------------------------------------------------------------

  private void askLater(long nanos) {
    Time time = nodes.context.time();
    timer = time.schedule(nanos, () -> time.lane(Lane.WORK).execute(this::ask));
  }

  private void cancelTimer() {
    if (timer != null) {
      timer.cancel();
      timer = null;
    }
  }

  /**
   * Other attempts were under way: the more often, the longer, so that one of them gets through.
   */
  private long shortPause() {
    return MILLI + random((4 * MILLI) << Math.min(contested, 4));
  }

  /** Someone holds it: until its lease is over, or for a while. */
  private long longPause(Obstacle obstacle) {
    long usual = 100 * MILLI + random(200 * MILLI);
    if (obstacle.remaining() == null) {
      return usual;
    }
    return Math.min(usual, obstacle.remaining().toNanos() + MILLI + random(20 * MILLI));
  }

  private long random(long most) {
    return (long) (nodes.context.random().nextDouble() * most);
  }
}
