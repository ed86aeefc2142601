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
   * A renewal without an answer is not sent again while the store answers others, until this share
   * of the lease is left: it is behind them in a queue, and a second one would make the queue
   * longer. With very many holds, each second one would then be late, too, until all are lost.
   */
  private static final int PATIENT_SHARE = 3;

  private static final long SHORTEST_RETRY_NANOS = 1_000_000;
  private static final long LONGEST_AHEAD_NANOS = 2_000_000_000;

  /** A place in the agenda; the sequence keeps places apart that are due at the same time. */
  private record Slot(long dueNanos, long sequence) implements Comparable<Slot> {
    @Override
    public int compareTo(Slot other) {
      int byTime = Long.compare(dueNanos, other.dueNanos);
      return byTime != 0 ? byTime : Long.compare(sequence, other.sequence);
    }
  }

  /** A renewal under way: which attempt of which grant. */
  private record Attempt(GrantLifecycle lifecycle, long sentNanos) {}

  /** What is noted of a grant, which carries it: every cycle would pay for looking it up. */
  static final class Note {
    // Guarded by the renewer.
    private @Nullable Slot slot;
    private @Nullable Attempt unanswered;
  }

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

  synchronized void add(GrantLifecycle lifecycle) {
    place(lifecycle, lifecycle.firstDueNanos());
  }

  synchronized void remove(GrantLifecycle lifecycle) {
    Note note = lifecycle.note;
    if (note.slot != null) {
      agenda.remove(note.slot);
      note.slot = null;
    }
    note.unanswered = null;
    if (timer == null && !ticking) {
      arm(); // It could not be set when this one was added; the others need it all the same.
    }
  }

  /**
   * Moves a grant, if it is still here, to where its lease says; called after each change of it.
   *
   * <p>The lease is read here: two that have changed it may come in the other order, and the last
   * one to come sees what both have left.
   */
  synchronized void leaseChanged(GrantLifecycle lifecycle) {
    lifecycle.note.unanswered = null;
    keep(lifecycle);
  }

  private synchronized void keep(GrantLifecycle lifecycle) {
    if (lifecycle.note.slot != null) {
      place(lifecycle, lifecycle.dueNanos());
    }
  }

  /** All grants that are kept. */
  synchronized List<GrantLifecycle> clientGrants() {
    return new ArrayList<>(agenda.values());
  }

  private void place(GrantLifecycle lifecycle, long dueNanos) {
    Slot slot = new Slot(dueNanos, sequence++);
    Slot before = lifecycle.note.slot;
    if (before != null) {
      agenda.remove(before);
    }
    lifecycle.note.slot = slot;
    agenda.put(slot, lifecycle);
    arm();
  }

  /** Sets the timer for the earliest slot; one that was set earlier may fire for nothing. */
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
      timer = null; // Unless the next one is set, there is none.
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
        return; // Replaced by an earlier one while it was about to run.
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
      // Whatever happened to one of them, the others are looked at again.
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
        keep(lifecycle); // It was renewed between the look and this.
      } else {
        remove(lifecycle); // Also one that had ended before it came here.
      }
    } else if (lifecycle.wantsRenewal(now)) {
      sendNext(lifecycle, now, batch);
    } else {
      keep(lifecycle);
    }
  }

  /** What is due, and what may as well be renewed along with it. */
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
              && lifecycle.note.unanswered == null
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
      if (lifecycle.note.slot == null) {
        return;
      }
      place(lifecycle, Math.min(now.nanos() + retry, lifecycle.lease().deadlineNanos()));
      if (isBehindOthers(lifecycle, now, retry)) {
        return;
      }
      silent = lifecycle.note.unanswered != null;
      lifecycle.note.unanswered = attempt;
    }
    if (silent) {
      lifecycle.renewalFailed("the store did not answer");
    }
    batch.add(attempt);
  }

  /** Whether an attempt is under way, and the store has answered others of late. */
  private boolean isBehindOthers(GrantLifecycle lifecycle, Moment now, long retryNanos) {
    Attempt sent = lifecycle.note.unanswered;
    LeaseTimes lease = lifecycle.lease();
    return sent != null
        && answeredNanos != null
        && answeredNanos - sent.sentNanos() > 0
        && now.nanos() - answeredNanos < retryNanos
        && lease.remainingNanos(now) > lease.length().toNanos() / PATIENT_SHARE;
  }

  private void renew(List<Attempt> due) {
    // The thread may have been busy: what has ended, or was sent anew, is not sent any more.
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
    return attempt.equals(attempt.lifecycle().note.unanswered);
  }

  /**
   * A failure is heard, as long as the grant is kept; the next try has its place in the agenda. It
   * may come after the next try was sent: then silence was reported, and this says what caused it.
   */
  private void failed(Attempt attempt, RuntimeException cause) {
    GrantLifecycle lifecycle = attempt.lifecycle();
    engine.watchers.renewalFailed(lifecycle.name(), cause, attempt.sentNanos());
    synchronized (this) {
      if (lifecycle.note.slot == null) {
        return;
      }
      if (attempt.equals(lifecycle.note.unanswered)) {
        lifecycle.note.unanswered = null;
      }
    }
    engine.events.tell(() -> new StoreFailed(lifecycle.name(), "renew", cause));
    lifecycle.renewalFailed(String.valueOf(cause.getMessage()));
  }
}
