package io.fenceline.runtime;

import io.fenceline.event.StoreFailed;
import io.fenceline.metrics.StoreOperation;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.time.Lane;
import io.fenceline.time.Moment;
import io.fenceline.time.Time;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Keeps grants alive, many with one request, and ends those that can't be kept.
 *
 * <p>Each grant is in the agenda once, at the time when something has to be done about it: its next
 * renewal, the next try after a failure, or its deadline. One timer waits for the earliest. A grant
 * that has ended is in no agenda, so nothing can be renewed after its release.
 */
final class Renewer {
  /** Renewals that are due within this share of their lease go along with those due now. */
  private static final int AHEAD_SHARE = 24;

  /** After a failure, or without an answer, a renewal is sent again after this share. */
  private static final int RETRY_SHARE = 12;

  /**
   * While the store answers other renewals, one without an answer is not sent again until this
   * share of the lease is left: it waits behind them in a queue, and a second one would make the
   * queue longer. With very many holds, the second ones would then be late, too, until all are
   * lost.
   */
  private static final int PATIENT_SHARE = 3;

  private static final long SHORTEST_RETRY_NANOS = 1_000_000;
  private static final long LONGEST_AHEAD_NANOS = 2_000_000_000;

  /** A place in the agenda; the sequence tells places apart that are due at the same time. */
  record Slot(long dueNanos, long sequence) implements Comparable<Slot> {
    @Override
    public int compareTo(Slot other) {
      int byTime = Long.compare(dueNanos, other.dueNanos);
      return byTime != 0 ? byTime : Long.compare(sequence, other.sequence);
    }
  }

  /** A renewal under way: which attempt of which grant. */
  record Attempt(GrantLifecycle lifecycle, long sentNanos) {}

  private final Engine engine;

  // Guarded by this.
  private final TreeMap<Slot, GrantLifecycle> agenda = new TreeMap<>();
  private long sequence;
  private @Nullable Long answeredNanos;
  private Time.@Nullable Timer timer;
  private long timerDueNanos;
  private long timers;
  private boolean ticking;

  Renewer(Engine engine) {
    this.engine = engine;
  }

  /** Adds a grant that no other thread knows yet, so that its lease can't change meanwhile. */
  synchronized void add(GrantLifecycle lifecycle, long dueNanos) {
    place(lifecycle, dueNanos);
  }

  synchronized void remove(GrantLifecycle lifecycle) {
    if (lifecycle.slot != null) {
      agenda.remove(lifecycle.slot);
      lifecycle.slot = null;
    }
    lifecycle.unanswered = null;
    if (timer == null && !ticking) {
      arm(); // It could not be set before; the other grants need it.
    }
  }

  /**
   * Moves a grant that is still in the agenda to where its lease says; called after each change of
   * the lease.
   *
   * <p>The lease is read here: two threads that have changed it may call in any order, and the last
   * call sees the result of both.
   */
  synchronized void leaseChanged(GrantLifecycle lifecycle) {
    lifecycle.unanswered = null;
    keep(lifecycle);
  }

  private synchronized void keep(GrantLifecycle lifecycle) {
    if (lifecycle.slot != null) {
      place(lifecycle, lifecycle.dueNanos());
    }
  }

  /** All grants in the agenda. */
  synchronized List<GrantLifecycle> clientGrants() {
    return new ArrayList<>(agenda.values());
  }

  private void place(GrantLifecycle lifecycle, long dueNanos) {
    Slot slot = new Slot(dueNanos, sequence++);
    Slot before = lifecycle.slot;
    if (before != null) {
      agenda.remove(before);
    }
    lifecycle.slot = slot;
    agenda.put(slot, lifecycle);
    arm();
  }

  /** Sets the timer for the earliest slot; a timer that is set for earlier than that may stay. */
  private void arm() {
    if (agenda.isEmpty()) {
      return;
    }
    long due = agenda.firstKey().dueNanos();
    if (timer != null) {
      if (timerDueNanos - due <= 0) {
        return;
      }
      timer.cancel();
      timer = null; // In case the next one can't be set.
    }
    timerDueNanos = due;
    long armed = ++timers;
    timer = engine.time.schedule(Math.max(0, due - engine.time.nanos()), () -> tick(armed));
  }

  private void tick(long armed) {
    Moment now = engine.time.now();
    List<GrantLifecycle> due;
    synchronized (this) {
      if (armed != timers) {
        return; // Replaced by another timer while it was about to run.
      }
      timer = null;
      ticking = true;
      due = due(now);
    }
    List<Attempt> batch = new ArrayList<>();
    try {
      for (GrantLifecycle lifecycle : due) {
        attend(lifecycle, now, batch);
      }
    } finally {
      // Whatever happened to one of them, the timer goes on for the others.
      synchronized (this) {
        ticking = false;
        arm();
      }
      if (!batch.isEmpty()) {
        engine.time.lane(Lane.RENEWAL).execute(() -> renew(batch));
      }
    }
  }

  private void attend(GrantLifecycle lifecycle, Moment now, List<Attempt> batch) {
    if (!lifecycle.lease().runsAt(now)) {
      lifecycle.expire(now);
      if (lifecycle.isLive()) {
        keep(lifecycle); // It was renewed in between.
      } else {
        remove(lifecycle); // Also one that had ended before.
      }
    } else if (lifecycle.wantsRenewal(now)) {
      sendNext(lifecycle, now, batch);
    } else {
      keep(lifecycle);
    }
  }

  /** What is due, and what may as well be renewed with it. */
  private List<GrantLifecycle> due(Moment now) {
    List<GrantLifecycle> found = new ArrayList<>();
    for (Map.Entry<Slot, GrantLifecycle> entry : agenda.entrySet()) {
      long early = entry.getKey().dueNanos() - now.nanos();
      if (early > LONGEST_AHEAD_NANOS) {
        break;
      }
      GrantLifecycle lifecycle = entry.getValue();
      boolean along =
          lifecycle.terms().autoRenewal()
              && lifecycle.unanswered == null
              && early <= lifecycle.terms().lease().toNanos() / AHEAD_SHARE;
      if (early <= 0 || along) {
        found.add(lifecycle);
      }
    }
    return found;
  }

  private void sendNext(GrantLifecycle lifecycle, Moment now, List<Attempt> batch) {
    Attempt attempt = new Attempt(lifecycle, now.nanos());
    long retry = Math.max(SHORTEST_RETRY_NANOS, lifecycle.lease().length().toNanos() / RETRY_SHARE);
    boolean silent;
    synchronized (this) {
      if (lifecycle.slot == null) {
        return;
      }
      place(lifecycle, Math.min(now.nanos() + retry, lifecycle.lease().deadlineNanos()));
      if (isBehindOthers(lifecycle, now, retry)) {
        return;
      }
      silent = lifecycle.unanswered != null;
      lifecycle.unanswered = attempt;
    }
    if (silent) {
      lifecycle.renewalFailed("the store did not answer");
    }
    batch.add(attempt);
  }

  /** Whether an attempt is under way, and the store has answered others since. */
  private boolean isBehindOthers(GrantLifecycle lifecycle, Moment now, long retryNanos) {
    Attempt sent = lifecycle.unanswered;
    LeaseTimes lease = lifecycle.lease();
    return sent != null
        && answeredNanos != null
        && answeredNanos - sent.sentNanos() > 0
        && now.nanos() - answeredNanos < retryNanos
        && lease.remainingNanos(now) > lease.length().toNanos() / PATIENT_SHARE;
  }

  private void renew(List<Attempt> due) {
    // This thread may have been busy: drop what has ended, or was sent again meanwhile.
    List<Attempt> batch = due.stream().filter(this::isWanted).toList();
    if (batch.isEmpty()) {
      return;
    }
    List<RenewRequest> requests = batch.stream().map(a -> a.lifecycle().renewRequest()).toList();
    List<@Nullable RequestObservation> watches =
        batch.stream()
            .map(a -> engine.watchers.request(StoreOperation.RENEW, a.lifecycle().name()))
            .toList();
    List<CompletableFuture<Renewal>> answers;
    try {
      answers = engine.store.renew(requests);
    } catch (Throwable e) {
      for (int i = 0; i < batch.size(); i++) {
        engine.watchers.sent(watches.get(i), CompletableFuture.failedFuture(e));
        failed(batch.get(i), Futures.unwrapped(e));
      }
      return;
    }
    for (int i = 0; i < batch.size(); i++) {
      Attempt attempt = batch.get(i);
      engine.watchers.sent(watches.get(i), answers.get(i));
      answers
          .get(i)
          .whenComplete(
              (renewal, failure) -> {
                if (renewal != null) {
                  answered();
                  attempt.lifecycle().renewed(renewal, attempt.sentNanos());
                } else {
                  failed(attempt, Futures.unwrapped(failure));
                }
              });
    }
  }

  private synchronized void answered() {
    answeredNanos = engine.time.nanos();
  }

  private synchronized boolean isWanted(Attempt attempt) {
    return attempt.equals(attempt.lifecycle().unanswered);
  }

  /**
   * Tells of a failure while the grant is in the agenda, where the next try has its place already.
   * If that try was sent before, silence was told then, and this tells the cause.
   */
  private void failed(Attempt attempt, RuntimeException cause) {
    GrantLifecycle lifecycle = attempt.lifecycle();
    engine.watchers.renewalFailed(lifecycle.name(), cause, attempt.sentNanos());
    synchronized (this) {
      if (lifecycle.slot == null) {
        return;
      }
      if (attempt.equals(lifecycle.unanswered)) {
        lifecycle.unanswered = null;
      }
    }
    engine.events.tell(() -> new StoreFailed(lifecycle.name(), "renew", cause));
    lifecycle.renewalFailed(String.valueOf(cause.getMessage()));
  }
}
