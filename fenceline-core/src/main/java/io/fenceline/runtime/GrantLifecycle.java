package io.fenceline.runtime;

import io.fenceline.ReleaseOutcome;
import io.fenceline.diagnosis.PlainText;
import io.fenceline.event.Endangered;
import io.fenceline.event.Leaked;
import io.fenceline.event.LossReason;
import io.fenceline.event.Lost;
import io.fenceline.event.Renewed;
import io.fenceline.event.StoreFailed;
import io.fenceline.metrics.RenewOutcome;
import io.fenceline.metrics.StoreOperation;
import io.fenceline.settings.HandOff;
import io.fenceline.spi.Grant;
import io.fenceline.spi.HeldGrant;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Release;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.TokenFormat;
import io.fenceline.spi.Validity;
import io.fenceline.time.Moment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * One grant of the store in this process, from the store's answer until it is released or lost.
 *
 * <p>Callers use it one after another, each with a {@link CallerHold}; the {@link Renewer} keeps it
 * alive. It ends once. Whether it is still held or lost is decided here, under its monitor, so that
 * a release, a hand-off, a loss and a renewal that happen at once have one order.
 */
final class GrantLifecycle {
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
  private volatile LeaseTimes lease;

  // The renewer's notes, guarded by the renewer: kept here, since a map would slow every hold.
  Renewer.@Nullable Slot slot;
  Renewer.@Nullable Attempt unanswered;

  // Guarded by this.
  private volatile State state = State.LIVE;
  private @Nullable CallerHold callerHold;
  private int handOffs;
  private volatile boolean renewalEnded;
  private boolean endangered;

  /** Whether an extension failed: the store may keep the name longer than this process believes. */
  private boolean extensionUnknown;

  /** The release that a close of the client has sent for a holder that is releasing; or null. */
  private @Nullable CompletableFuture<Release> closing;

  GrantLifecycle(
      Engine engine,
      ClaimQueue queue,
      RemoteClaim claim,
      Grant granted,
      long number,
      LeaseTimes lease,
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

  LeaseTimes lease() {
    return lease;
  }

  GrantTerms terms() {
    return claim.terms;
  }

  boolean answers(RemoteClaim asked) {
    return claim == asked;
  }

  /** This grant, as the obstacle that local callers are told of. */
  Obstacle asObstacle(Moment now) {
    Duration left = Duration.ofNanos(lease.remainingNanos(now));
    return new Obstacle(engine.info.label(), grant.number(), left);
  }

  // Holds. --------------------------------------------------------------------------------------

  /**
   * Begins a hold for a waiter, and settles the waiter with the first handle.
   *
   * <p>Both in one step: a loss finds either no holder, or one that it has to tell and count. It is
   * renewed from before it has a holder, who may release it at once.
   *
   * @return null if the waiter was settled before, or the grant is lost
   */
  synchronized @Nullable Handle begin(Waiter waiter, Moment now) {
    if (state != State.LIVE) {
      return null;
    }
    if (handOffs == 0) {
      engine.renewer.add(this, firstDueNanos());
    }
    CallerHold begun = new CallerHold(this, number, handOffs, waiter, now);
    Handle handle = begun.open(waiter.handles, waiter.thread);
    if (!waiter.settle(handle)) {
      return null;
    }
    callerHold = begun;
    return handle;
  }

  /**
   * Begins the next hold on the same grant, as {@link #begin}; null also if the grant may not pass
   * to this waiter.
   *
   * <p>The lease goes on unchanged, since the store was not asked. Half of the lease that the store
   * gave must be left. That may be less than half of what was asked for: a grant that the store has
   * handed over is short until its first renewal, and if it could not be handed off before that,
   * each turn of a process would be a single hold.
   */
  synchronized @Nullable Handle handOff(CallerHold ended, Waiter next, Moment now) {
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

  /**
   * Closes one handle of a hold. With the last handle the hold ends, and the grant passes on.
   *
   * @param here whether this thread waits for the outcome
   */
  CompletableFuture<ReleaseOutcome> leave(Handle closed, boolean here) {
    Moment now = engine.time.now();
    noticeExpiry(now);
    CallerHold left = closed.callerHold;
    CompletableFuture<ReleaseOutcome> done;
    synchronized (this) {
      done = left.closeOne(closed);
    }
    if (done != null) {
      if (left.loss() != null) {
        left.interruptLoser(); // Now: later it would hit what the thread does next.
      }
      return done;
    }
    engine.queues.dropHold();
    return queue.released(this, left, now, here);
  }

  /** Ends it for a release that will be sent; {@link #sendRelease} does that. */
  void beginRelease() {
    engine.unknownOutcomes.releaseBegun();
    claim.releaseBegins();
    end();
  }

  /** Ends it; from now on it is neither renewed nor lost. */
  void end() {
    synchronized (this) {
      if (state == State.LIVE) {
        state = State.ENDED;
      }
      callerHold = null;
    }
    engine.renewer.remove(this);
  }

  // Loss. ---------------------------------------------------------------------------------------

  /** Loses it if its lease is over; called before any answer that it is valid. */
  void noticeExpiry(Moment now) {
    if (!lease.runsAt(now)) {
      expire(now);
    }
  }

  /** Whether a thread has acquired or re-entered the current hold. */
  synchronized boolean isHeldBy(Thread thread) {
    return callerHold != null && callerHold.isOpenedBy(thread);
  }

  /** Whether it has neither ended nor been lost, as far as is known here. */
  synchronized boolean isLive() {
    return state == State.LIVE;
  }

  boolean isLost() {
    return state == State.LOST;
  }

  /** Ends it by loss, for another reason than the clock. */
  void lose(LossReason reason) {
    lose(reason, engine.time.now());
  }

  /**
   * Loses it if its lease was over at a moment that was read before. That moment decides, not a
   * newer one: whoever has seen the lease to be over finds the grant either lost or renewed.
   */
  void expire(Moment now) {
    lose(LossReason.EXPIRED, now);
  }

  /** Ends it by loss: the state first, then the signals, so that whoever is told sees the state. */
  private void lose(LossReason reason, Moment now) {
    Loss loss;
    synchronized (this) {
      if (state != State.LIVE || (reason == LossReason.EXPIRED && lease.runsAt(now))) {
        return;
      }
      state = State.LOST;
      claim.releaseBegins();
      CallerHold loser = callerHold;
      callerHold = null;
      Lost how = lossOf(loser, reason, lease);
      boolean held = loser != null && loser.markLost(how);
      boolean givesBack = reason == LossReason.CLIENT_CLOSED && lease.runsAt(now);
      if (givesBack && loser != null && !held) {
        closing = new CompletableFuture<>();
      }
      loss = new Loss(how, loser, held, givesBack, extensionUnknown);
    }
    new RunAll()
        .then(() -> engine.renewer.remove(this))
        .then(() -> tell(loss))
        .then(() -> queue.lost(this))
        .then(() -> giveBackAfter(loss))
        .run();
  }

  /**
   * How it was lost, and what is to be done about it.
   *
   * @param loser the hold on it, even if that is just being released; null if there was none
   * @param held whether the loser has to be told
   */
  private record Loss(
      Lost how,
      @Nullable CallerHold loser,
      boolean held,
      boolean givesBack,
      boolean maybeExtended) {}

  private void tell(Loss loss) {
    CallerHold loser = loss.loser;
    if (loser == null || !loss.held) {
      return;
    }
    engine.queues.dropHold();
    try {
      if (loser.interruptsOnLoss()) {
        engine.interrupt(loser::interruptLoser);
      }
    } finally {
      loser.tellLost(loss.how);
    }
  }

  /**
   * Tells the store that the name is free, where that does no harm. With a lock-delay, what this
   * holder has sent may still be under way: after its lease nothing is sent that would open the
   * name before the delay is over, and a client that closes leaves the name closed for the delay.
   */
  private void giveBackAfter(Loss loss) {
    long nanos = engine.time.nanos();
    ReleaseRequest request = releaseRequest(loss.loser);
    boolean expired = loss.how.reason() == LossReason.EXPIRED;
    if (expired && request.keepClosed().isZero()) {
      claim.undo(engine.unknownOutcomes.prepared(claim.request));
    }
    if (loss.givesBack) {
      CompletableFuture<Release> answer = releaseAgain(request, nanos);
      CompletableFuture<Release> awaited = closing;
      if (awaited != null) {
        answer.whenComplete((release, failure) -> Futures.copy(release, failure, awaited));
      }
    } else if (expired && loss.maybeExtended && !request.keepClosed().isZero()) {
      releaseAgain(request, nanos);
    } else {
      claim.releaseEnds();
    }
  }

  private CompletableFuture<Release> releaseAgain(ReleaseRequest request, long sinceNanos) {
    CompletableFuture<Release> answer = engine.unknownOutcomes.releaseAgain(request, sinceNanos);
    answer.whenComplete((release, failure) -> claim.releaseEnds());
    return answer;
  }

  /** A release that keeps the name closed while the loser may still write, or as it has asked. */
  private ReleaseRequest releaseRequest(@Nullable CallerHold loser) {
    Duration delay = terms().delay();
    Duration keep = loser == null ? Duration.ZERO : loser.keepClosed(engine.time.now());
    return new ReleaseRequest(grant, keep.compareTo(delay) > 0 ? keep : delay);
  }

  private Lost lossOf(@Nullable CallerHold victim, LossReason reason, LeaseTimes last) {
    long token = victim == null ? TokenFormat.of(number, handOffs) : victim.token;
    Duration since = Duration.ofNanos(engine.time.nanos() - last.from().nanos());
    return new Lost(name(), id(), token, reason, since, last.length());
  }

  // Release. ------------------------------------------------------------------------------------

  /**
   * Gives the grant back to the store; the grant has ended.
   *
   * @param here whether this thread waits for the outcome
   */
  CompletableFuture<ReleaseOutcome> sendRelease(CallerHold ended, Moment now, boolean here) {
    CompletableFuture<Release> closed = closing; // Written before the end, under the monitor.
    if (closed != null) {
      claim.releaseEnds(); // The release of the close still counts.
      engine.unknownOutcomes.releaseEnded();
      // The close of the client releases it; a second release would be answered with GONE.
      return closed.handle((release, failure) -> closedOutcome(ended, now, release));
    }
    if (!terms().delay().isZero() && !lease.runsAt(engine.time.now())) {
      claim.releaseEnds();
      engine.unknownOutcomes.releaseEnded();
      tellLateLoss(ended, LossReason.EXPIRED);
      return ended.released(ReleaseOutcome.ALREADY_LOST, now);
    }
    ReleaseRequest request = new ReleaseRequest(grant, ended.keepClosed(now));
    RequestObservation recorded = Observers.isRecording() ? recordedRelease() : null;
    CompletableFuture<Release> answer =
        engine.answered(send(request, here), "The release was not answered");
    engine.watchers.released(recorded, name(), now.nanos(), answer);
    if (answer.isDone()) {
      return ended.released(outcome(ended, request, answer, now), now);
    }
    return answer.handle(
        (release, failure) -> {
          ReleaseOutcome outcome = outcome(ended, request, answer, now);
          ended.released(outcome, now);
          return outcome;
        });
  }

  private @Nullable RequestObservation recordedRelease() {
    return engine.watchers.request(StoreOperation.RELEASE, name());
  }

  private ReleaseOutcome closedOutcome(CallerHold ended, Moment now, @Nullable Release release) {
    if (release == Release.GONE) {
      tellLateLoss(ended, LossReason.GONE);
    }
    ReleaseOutcome outcome =
        release == null
            ? ReleaseOutcome.UNKNOWN
            : release == Release.RELEASED ? ReleaseOutcome.RELEASED : ReleaseOutcome.ALREADY_LOST;
    ended.released(outcome, now);
    return outcome;
  }

  private CompletableFuture<Release> send(ReleaseRequest request, boolean here) {
    try {
      return here ? engine.store.releaseHere(request) : engine.store.release(request);
    } catch (Throwable e) { // Whatever it was, the name has to be passed on, and the outcome told.
      return CompletableFuture.failedFuture(e);
    }
  }

  private ReleaseOutcome outcome(
      CallerHold ended, ReleaseRequest request, CompletableFuture<Release> answer, Moment now) {
    try {
      if (answer.join() == Release.RELEASED) {
        claim.releaseEnds();
        return ReleaseOutcome.RELEASED;
      }
      claim.releaseEnds();
    } catch (CompletionException | CancellationException e) {
      engine.events.tell(() -> new StoreFailed(name(), "release", Futures.unwrapped(e)));
      if (terms().delay().isZero()) {
        releaseAgain(request, now.nanos());
      } else {
        claim.releaseEnds();
      }
      return ReleaseOutcome.UNKNOWN;
    } finally {
      engine.unknownOutcomes.releaseEnded();
    }
    tellLateLoss(ended, LossReason.GONE);
    return ReleaseOutcome.ALREADY_LOST;
  }

  /** Tells of a loss that was found out at the release. */
  private void tellLateLoss(CallerHold ended, LossReason reason) {
    Lost loss = lossOf(ended, reason, lease);
    ended.markLostAtRelease(loss);
    ended.tellLost(loss);
  }

  // Renewal. ------------------------------------------------------------------------------------

  /** When the renewer has to look at it next by its current lease; retries come sooner. */
  long dueNanos() {
    LeaseTimes now = lease;
    return terms().autoRenewal() && !renewalEnded ? now.renewalNanos() : now.deadlineNanos();
  }

  /** When the renewer has to look at it first. */
  private long firstDueNanos() {
    LeaseTimes now = lease;
    if (!terms().autoRenewal()) {
      return now.deadlineNanos();
    }
    // A grant that the store has handed over may be short until it is renewed. The renewal comes
    // soon, but not so soon that a hold of milliseconds is renewed in vain. The delay counts from
    // the
    // grant, since the lease counts from a request that may be seconds older. On a session, a lease
    // that is a little shorter than asked for is normal, and no reason to hurry.
    boolean longEnough = now.length().toNanos() >= terms().lease().toNanos() / 2;
    return longEnough
        ? now.renewalNanos()
        : grantedNanos + (now.deadlineNanos() - grantedNanos) / HASTE;
  }

  /** Whether it is to be renewed now; notices leaks. */
  boolean wantsRenewal(Moment now) {
    Leaked leak = null;
    CallerHold leaking;
    boolean wanted;
    synchronized (this) {
      if (state != State.LIVE || !terms().autoRenewal() || renewalEnded) {
        return false;
      }
      leaking = callerHold;
      Leaked.Cause cause = leaking == null ? null : leaking.leak(now);
      if (leaking != null && cause != null) {
        renewalEnded = true;
        leak = new Leaked(name(), id(), leaking.token, terms().lease(), cause, leaking.trace());
      }
      wanted = !renewalEnded;
    }
    if (leaking != null && leak != null) {
      leaking.tellLeaked(leak);
    }
    return wanted;
  }

  RenewRequest renewRequest() {
    return new RenewRequest(grant, terms().lease());
  }

  /** The store's answer to a renewal; answers that come after the end change nothing. */
  void renewed(Renewal answer, long sentNanos) {
    boolean still = answer instanceof Renewal.Renewed;
    engine.watchers.renewal(
        name(),
        still ? RenewOutcome.RENEWED : RenewOutcome.GONE,
        sentNanos,
        still ? leaseLeft() : Double.NaN);
    if (answer instanceof Renewal.Renewed renewed) {
      prolong(renewed.validity(), sentNanos);
    } else {
      lose(LossReason.GONE);
    }
  }

  /**
   * How much of its lease is left, from 0 to 1: the share of what it had when it was granted, which
   * may be less than a lease if the store has handed it over.
   */
  private double leaseLeft() {
    if (!engine.watchers.areObservers()) {
      return Double.NaN;
    }
    Moment now = engine.time.now();
    LeaseTimes current = lease;
    long from = Math.max(current.from().nanos() - grantedNanos, 0) + grantedNanos;
    double whole = current.deadlineNanos() - from;
    return whole <= 0 ? 0 : Math.min(1, current.remainingNanos(now) / whole);
  }

  private void prolong(Validity validity, long sentNanos) {
    LeaseTimes longer = LeaseTimes.of(validity);
    Moment now;
    long token;
    synchronized (this) {
      now = engine.time.now();
      if (state != State.LIVE || !lease.runsAt(now)) {
        return; // Too late: the lease was over by the local clock, and a loss is final.
      }
      if (longer.endsAfter(lease)) {
        lease = longer;
      }
      endangered = false;
      token = TokenFormat.of(number, handOffs);
    }
    engine.renewer.leaseChanged(this);
    Duration left = Duration.ofNanos(lease.remainingNanos(now));
    Duration roundTrip = Duration.ofNanos(now.nanos() - sentNanos);
    engine.events.tell(() -> new Renewed(name(), id(), token, left, roundTrip));
  }

  /** A renewal failed or was not answered: it is retried, and told once. */
  void renewalFailed(String cause) {
    Duration left = Duration.ofNanos(lease.remainingNanos(engine.time.now()));
    long token;
    synchronized (this) {
      if (state != State.LIVE || endangered) {
        return;
      }
      endangered = true;
      token = callerHold == null ? TokenFormat.of(number, handOffs) : callerHold.token;
    }
    engine.events.tell(new Endangered(name(), id(), token, left, PlainText.of(cause)));
  }

  /**
   * Renews the lease now, with this length.
   *
   * <p>A shorter lease counts from the request: the store may have cut it even if its answer is
   * lost.
   */
  CompletableFuture<Renewal> renewNow(Duration length, CallerHold asking) {
    Moment asked = engine.time.now();
    synchronized (this) {
      lease = lease.cutTo(LeaseTimes.of(new Validity(asked, length)));
    }
    if (!terms().autoRenewal()) {
      engine.renewer.leaseChanged(this);
    }
    RequestObservation watch = engine.watchers.request(StoreOperation.RENEW, name());
    CompletableFuture<Renewal> answer;
    try {
      answer = engine.store.renew(List.of(new RenewRequest(grant, length))).get(0);
    } catch (Throwable e) {
      answer = CompletableFuture.failedFuture(e);
    }
    CompletableFuture<Renewal> bounded = engine.answered(answer, "The renewal was not answered");
    engine.watchers.sent(watch, bounded);
    return bounded.whenComplete(
        (renewal, failure) -> {
          if (renewal != null) {
            renewed(renewal, asked.nanos());
          } else {
            engine.watchers.renewalFailed(name(), Futures.unwrapped(failure), asked.nanos());
          }
          if (!terms().autoRenewal() && !(renewal instanceof Renewal.Gone)) {
            extensionAnswered(asking, failure != null);
          }
        });
  }

  /**
   * Handles the answer to an extension, or its absence. If the hold is lost by now, the store may
   * keep the name closed for the whole extension: this releases it, unless the loss already did.
   */
  private void extensionAnswered(CallerHold asking, boolean unknown) {
    synchronized (this) {
      extensionUnknown |= unknown;
      if (state != State.LOST) {
        return;
      }
    }
    long nanos = engine.time.nanos();
    ReleaseRequest request = releaseRequest(asking);
    if (!request.keepClosed().isZero()) {
      claim.releaseBegins();
      releaseAgain(request, nanos);
    }
  }
}
