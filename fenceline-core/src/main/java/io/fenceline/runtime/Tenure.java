package io.fenceline.runtime;

import io.fenceline.HandOff;
import io.fenceline.LossReason;
import io.fenceline.ReleaseOutcome;
import io.fenceline.event.Endangered;
import io.fenceline.event.Leaked;
import io.fenceline.event.Lost;
import io.fenceline.event.Renewed;
import io.fenceline.event.StoreFailed;
import io.fenceline.spi.Grant;
import io.fenceline.spi.HeldGrant;
import io.fenceline.spi.Moment;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Release;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.Validity;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * One grant of the store, as this process has it: from the answer until it is given back or lost.
 *
 * <p>Callers come and go on it, one {@link Stay} after another; the {@link Renewer} keeps it alive.
 * It ends once. Every question of the kind "is it still ours" is decided under its monitor, so that
 * a release, a hand-off, a loss and a renewal that cross each other have one order.
 */
final class Tenure {
  private static final int HASTE = 20;

  private enum State {
    LIVE,
    ENDED,
    LOST
  }

  private final Engine engine;
  private final ClaimQueue queue;
  private final RemoteClaim claim;
  private final HeldGrant grant;
  private final long number;
  private final long grantedNanos;
  final Renewer.Note note = new Renewer.Note();
  private volatile Lease lease;

  // Guarded by this.
  private volatile State state = State.LIVE;
  private @Nullable Stay stay;
  private int handOffs;
  private boolean renewalEnded;
  private boolean endangered;

  Tenure(
      Engine engine,
      ClaimQueue queue,
      RemoteClaim claim,
      Grant granted,
      long number,
      Lease lease,
      Moment now) {
    this.engine = engine;
    this.queue = queue;
    this.claim = claim;
    this.grant = new HeldGrant(claim.request, granted.number());
    this.number = number;
    this.lease = lease;
    this.grantedNanos = now.nanos();
  }

  String name() {
    return claim.request.name();
  }

  String id() {
    return claim.request.owner().id();
  }

  Engine engine() {
    return engine;
  }

  Lease lease() {
    return lease;
  }

  Terms terms() {
    return claim.terms;
  }

  boolean answers(RemoteClaim asked) {
    return claim == asked;
  }

  /** What local callers are told stands in their way. */
  Obstacle asObstacle(Moment now) {
    Duration left = Duration.ofNanos(lease.remainingNanos(now));
    return new Obstacle(engine.info.label(), grant.number(), left);
  }

  // Stays. --------------------------------------------------------------------------------------

  /** A stay on the grant, and its first handle. */
  synchronized Handle begin(Waiter waiter, Moment now) {
    Stay begun = new Stay(this, number, handOffs, waiter, now);
    stay = begun;
    return begun.open(waiter::handleOn);
  }

  /**
   * The next stay on the same grant, if it may pass to this waiter; null if it may not.
   *
   * <p>The lease goes on unchanged: nothing was heard from the store, so nothing began anew. Half
   * of it must be left, and that is half of what the store gave: a grant that was handed over by
   * the store is short until its first renewal, and a process that could not pass it on until then
   * would get one cycle out of each turn.
   */
  synchronized @Nullable Handle handOff(Stay ended, Waiter next, Moment now) {
    HandOff bounds = engine.settings.handOff();
    boolean allowed =
        state == State.LIVE
            && lease.runsAt(now)
            && lease.isFreshAt(now)
            && terms().autoRenewal()
            && !renewalEnded
            && next.terms.match(terms())
            && handOffs < bounds.times()
            && now.nanos() - grantedNanos < bounds.within().toNanos()
            && ended.keepClosed(now).isZero();
    if (!allowed) {
      return null;
    }
    handOffs++;
    return begin(next, now);
  }

  /** Undoes a stay that its waiter did not take; its token is used up. */
  synchronized void takeBack(Stay offered) {
    if (stay == offered) {
      stay = null;
    }
  }

  /** Closes one handle of a stay, and with the last one the stay: the tenure then passes on. */
  CompletableFuture<ReleaseOutcome> leave(Handle closed) {
    Moment now = engine.time.now();
    noticeExpiry(now);
    Stay left = closed.stay;
    CompletableFuture<ReleaseOutcome> done;
    synchronized (this) {
      done = left.closeOne(closed);
    }
    if (done != null) {
      return done;
    }
    engine.dropHold();
    return queue.released(this, left, now);
  }

  /** Ends it by release; from now on it is neither renewed nor lost. */
  void end() {
    synchronized (this) {
      if (state == State.LIVE) {
        state = State.ENDED;
      }
      stay = null;
    }
    engine.renewer.remove(this);
  }

  // Loss. ---------------------------------------------------------------------------------------

  /** Notices that the lease is over, if it is; called before anything answers as valid. */
  void noticeExpiry(Moment now) {
    if (!lease.runsAt(now)) {
      lose(LossReason.EXPIRED);
    }
  }

  /** Whether it is still ours, as far as is known. */
  synchronized boolean isLive() {
    return state == State.LIVE;
  }

  boolean isLost() {
    return state == State.LOST;
  }

  /** Ends it by loss: the state first, then the signals, so that whoever hears of it sees it. */
  void lose(LossReason reason) {
    Stay victim;
    Stay loser;
    Lost loss;
    Lease last = lease;
    synchronized (this) {
      if (state != State.LIVE) {
        return;
      }
      if (reason == LossReason.EXPIRED && lease.runsAt(engine.time.now())) {
        return; // It was renewed between the look and this.
      }
      state = State.LOST;
      loser = stay;
      victim = loser;
      stay = null;
      loss = lossOf(victim, reason, last);
      if (victim != null && !victim.markLost(loss)) {
        victim = null;
      }
    }
    engine.renewer.remove(this);
    if (victim != null) {
      engine.dropHold();
      Stay told = victim;
      engine.onLoss(() -> told.tellLost(loss));
    }
    queue.lost(this);
    giveBackAfter(reason, loser, last);
  }

  /**
   * Tells the store that the name is free, where that does no harm. With a lock-delay, what this
   * holder has sent may still be under way: after its lease nothing is sent, and a client that
   * closes leaves the name closed for the delay.
   */
  private void giveBackAfter(LossReason reason, @Nullable Stay loser, Lease last) {
    Moment now = engine.time.now();
    Duration delay = terms().delay();
    Duration keep = loser == null ? Duration.ZERO : loser.keepClosed(now);
    if (reason == LossReason.EXPIRED && delay.isZero() && keep.isZero()) {
      engine.undoer.undo(claim.request);
    } else if (reason == LossReason.CLIENT_CLOSED && last.runsAt(now)) {
      Duration closed = keep.compareTo(delay) > 0 ? keep : delay;
      engine.undoer.releaseAgain(new ReleaseRequest(grant, closed));
    }
  }

  private Lost lossOf(@Nullable Stay victim, LossReason reason, Lease last) {
    long token = victim == null ? Stay.token(number, handOffs) : victim.token;
    Duration since = Duration.ofNanos(engine.time.nanos() - last.from().nanos());
    return new Lost(name(), id(), token, reason, since, last.length());
  }

  // Release. ------------------------------------------------------------------------------------

  /** Gives the grant back to the store; the tenure has ended. */
  CompletableFuture<ReleaseOutcome> sendRelease(Stay ended, Moment now) {
    if (!terms().delay().isZero() && !lease.runsAt(engine.time.now())) {
      tellLateLoss(ended, LossReason.EXPIRED);
      return ended.released(ReleaseOutcome.ALREADY_LOST, now);
    }
    ReleaseRequest request = new ReleaseRequest(grant, ended.keepClosed(now));
    CompletableFuture<Release> answer =
        engine.answered(send(request), "The release was not answered");
    if (answer.isDone()) {
      return ended.released(outcome(ended, request, answer), now);
    }
    return answer.handle(
        (release, failure) -> {
          ReleaseOutcome outcome = outcome(ended, request, answer);
          ended.released(outcome, now);
          return outcome;
        });
  }

  private CompletableFuture<Release> send(ReleaseRequest request) {
    try {
      return engine.store.release(request);
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private ReleaseOutcome outcome(
      Stay ended, ReleaseRequest request, CompletableFuture<Release> answer) {
    try {
      if (answer.join() == Release.RELEASED) {
        return ReleaseOutcome.RELEASED;
      }
    } catch (CompletionException | CancellationException e) {
      engine.events.tell(() -> new StoreFailed(name(), "release", Futures.unwrapped(e)));
      if (terms().delay().isZero()) {
        engine.undoer.releaseAgain(request);
      }
      return ReleaseOutcome.UNKNOWN;
    }
    tellLateLoss(ended, LossReason.GONE);
    return ReleaseOutcome.ALREADY_LOST;
  }

  /** It turns out at the release that it was lost before; who listens is told. */
  private void tellLateLoss(Stay ended, LossReason reason) {
    Lost loss = lossOf(ended, reason, lease);
    ended.markLostAtRelease(loss);
    engine.onLoss(() -> ended.tellLost(loss));
  }

  // Renewal. ------------------------------------------------------------------------------------

  /** When the renewer has to look at it first. */
  long firstDueNanos() {
    Lease now = lease;
    if (!terms().autoRenewal()) {
      return now.deadlineNanos();
    }
    // A grant that was handed over by the store may run for a short time only, until it is renewed:
    // soon, but not so soon that one that is passed on within milliseconds is renewed for nothing.
    // That counts from the grant: the lease counts from a question that may be seconds older.
    // Where the lease is a session's, somewhat less than was asked for is normal and no haste.
    boolean longEnough = now.length().toNanos() >= terms().lease().toNanos() / 2;
    return longEnough
        ? now.renewalNanos()
        : grantedNanos + (now.deadlineNanos() - grantedNanos) / HASTE;
  }

  /** Whether it is to be renewed now; notices leaks. */
  boolean wantsRenewal(Moment now) {
    Leaked leak = null;
    boolean wanted;
    synchronized (this) {
      if (state != State.LIVE || !terms().autoRenewal() || renewalEnded) {
        return false;
      }
      Leaked.Cause cause = stay == null ? null : stay.leak(now);
      if (stay != null && cause != null) {
        renewalEnded = true;
        leak = new Leaked(name(), id(), stay.token, terms().lease(), cause, stay.trace);
      }
      wanted = !renewalEnded;
    }
    if (leak != null) {
      Leaked told = leak;
      engine.onLoss(() -> engine.events.tell(told));
    }
    return wanted;
  }

  RenewRequest renewRequest() {
    return new RenewRequest(grant, terms().lease());
  }

  /** The store's answer to a renewal; answers that come after the end change nothing. */
  void renewed(Renewal answer, long sentNanos) {
    if (answer instanceof Renewal.Renewed renewed) {
      prolong(renewed.validity(), sentNanos);
    } else {
      lose(LossReason.GONE);
    }
  }

  private void prolong(Validity validity, long sentNanos) {
    Lease longer = Lease.of(validity);
    Moment now;
    long token;
    synchronized (this) {
      now = engine.time.now();
      if (state != State.LIVE || !lease.runsAt(now)) {
        return; // Too late: the lease was over by our clock, and loss is for good.
      }
      if (longer.endsAfter(lease)) {
        lease = longer;
      }
      endangered = false;
      token = Stay.token(number, handOffs);
    }
    engine.renewer.move(this, terms().autoRenewal() ? lease.renewalNanos() : lease.deadlineNanos());
    Duration left = Duration.ofNanos(lease.remainingNanos(now));
    Duration roundTrip = Duration.ofNanos(now.nanos() - sentNanos);
    engine.events.tell(() -> new Renewed(name(), id(), token, left, roundTrip));
  }

  /** A renewal failed or was not answered; it is tried again, and said once. */
  void renewalFailed(String cause) {
    Duration left = Duration.ofNanos(lease.remainingNanos(engine.time.now()));
    long token;
    synchronized (this) {
      if (state != State.LIVE || endangered) {
        return;
      }
      endangered = true;
      token = stay == null ? Stay.token(number, handOffs) : stay.token;
    }
    engine.onLoss(() -> engine.events.tell(new Endangered(name(), id(), token, left, cause)));
  }

  /**
   * Asks the store to start the lease again, now, with this length.
   *
   * <p>A shorter lease counts from the asking on: the store may have cut it even if its answer is
   * lost.
   */
  CompletableFuture<Renewal> renewNow(Duration length) {
    Moment asked = engine.time.now();
    synchronized (this) {
      lease = lease.cutTo(Lease.of(new Validity(asked, length)));
    }
    if (!terms().autoRenewal()) {
      engine.renewer.move(this, lease.deadlineNanos());
    }
    CompletableFuture<Renewal> answer;
    try {
      answer = engine.store.renew(List.of(new RenewRequest(grant, length))).get(0);
    } catch (RuntimeException e) {
      answer = CompletableFuture.failedFuture(e);
    }
    CompletableFuture<Renewal> bounded = engine.answered(answer, "The renewal was not answered");
    return bounded.whenComplete(
        (renewal, failure) -> {
          if (renewal != null) {
            renewed(renewal, asked.nanos());
          }
        });
  }
}
