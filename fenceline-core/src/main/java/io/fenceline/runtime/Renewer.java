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
  private record Attempt(ClientGrant clientGrant, long sentNanos) {}

  /** What is noted of a grant, which carries it: every cycle would pay for looking it up. */
  static final class Note {
    // Guarded by the renewer.
    private @Nullable Slot slot;
    private @Nullable Attempt unanswered;
  }

  private final Engine engine;

  // Guarded by this.
  private final TreeMap<Slot, ClientGrant> agenda = new TreeMap<>();
  private long sequence;
  private @Nullable Long answeredNanos;
  private Time.@Nullable Timer timer;
  private long timerDueNanos;
  private long timers;
  private boolean ticking;

  Renewer(Engine engine) {
    this.engine = engine;
  }

  synchronized void add(ClientGrant clientGrant) {
    place(clientGrant, clientGrant.firstDueNanos());
  }

  synchronized void remove(ClientGrant clientGrant) {
    Note note = clientGrant.note;
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
  synchronized void leaseChanged(ClientGrant clientGrant) {
    clientGrant.note.unanswered = null;
    keep(clientGrant);
  }

  private synchronized void keep(ClientGrant clientGrant) {
    if (clientGrant.note.slot != null) {
      place(clientGrant, clientGrant.dueNanos());
    }
  }

  /** All grants that are kept. */
  synchronized List<ClientGrant> clientGrants() {
    return new ArrayList<>(agenda.values());
  }

  private void place(ClientGrant clientGrant, long dueNanos) {
    Slot slot = new Slot(dueNanos, sequence++);
    Slot before = clientGrant.note.slot;
    if (before != null) {
      agenda.remove(before);
    }
    clientGrant.note.slot = slot;
    agenda.put(slot, clientGrant);
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
    List<ClientGrant> due;
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
      for (ClientGrant clientGrant : due) {
        attend(clientGrant, now, batch);
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

  private void attend(ClientGrant clientGrant, Moment now, List<Attempt> batch) {
    if (!clientGrant.lease().runsAt(now)) {
      clientGrant.expire(now);
      if (clientGrant.isLive()) {
        keep(clientGrant); // It was renewed between the look and this.
      } else {
        remove(clientGrant); // Also one that had ended before it came here.
      }
    } else if (clientGrant.wantsRenewal(now)) {
      sendNext(clientGrant, now, batch);
    } else {
      keep(clientGrant);
    }
  }

  /** What is due, and what may as well be renewed along with it. */
  private List<ClientGrant> due(Moment now) {
    List<ClientGrant> found = new ArrayList<>();
    for (Map.Entry<Slot, ClientGrant> entry : agenda.entrySet()) {
      long early = entry.getKey().dueNanos() - now.nanos();
      if (early > LONGEST_AHEAD_NANOS) {
        break;
      }
      ClientGrant clientGrant = entry.getValue();
      boolean along =
          clientGrant.terms().autoRenewal()
              && clientGrant.note.unanswered == null
              && early <= clientGrant.terms().lease().toNanos() / AHEAD_SHARE;
      if (early <= 0 || along) {
        found.add(clientGrant);
      }
    }
    return found;
  }

  private void sendNext(ClientGrant clientGrant, Moment now, List<Attempt> batch) {
    Attempt attempt = new Attempt(clientGrant, now.nanos());
    long retry =
        Math.max(SHORTEST_RETRY_NANOS, clientGrant.lease().length().toNanos() / RETRY_SHARE);
    boolean silent;
    synchronized (this) {
      if (clientGrant.note.slot == null) {
        return;
      }
      place(clientGrant, Math.min(now.nanos() + retry, clientGrant.lease().deadlineNanos()));
      if (isBehindOthers(clientGrant, now, retry)) {
        return;
      }
      silent = clientGrant.note.unanswered != null;
      clientGrant.note.unanswered = attempt;
    }
    if (silent) {
      clientGrant.renewalFailed("the store did not answer");
    }
    batch.add(attempt);
  }

  /** Whether an attempt is under way, and the store has answered others of late. */
  private boolean isBehindOthers(ClientGrant clientGrant, Moment now, long retryNanos) {
    Attempt sent = clientGrant.note.unanswered;
    Lease lease = clientGrant.lease();
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
    List<RenewRequest> requests = batch.stream().map(a -> a.clientGrant().renewRequest()).toList();
    List<@Nullable RequestObservation> watches =
        batch.stream()
            .map(a -> engine.watchers.request(StoreOperation.RENEW, a.clientGrant().name()))
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
                  attempt.clientGrant().renewed(renewal, attempt.sentNanos());
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
    return attempt.equals(attempt.clientGrant().note.unanswered);
  }

  /**
   * A failure is heard, as long as the grant is kept; the next try has its place in the agenda. It
   * may come after the next try was sent: then silence was reported, and this says what caused it.
   */
  private void failed(Attempt attempt, RuntimeException cause) {
    ClientGrant clientGrant = attempt.clientGrant();
    engine.watchers.renewalFailed(clientGrant.name(), cause, attempt.sentNanos());
    synchronized (this) {
      if (clientGrant.note.slot == null) {
        return;
      }
      if (attempt.equals(clientGrant.note.unanswered)) {
        clientGrant.note.unanswered = null;
      }
    }
    engine.events.tell(() -> new StoreFailed(clientGrant.name(), "renew", cause));
    clientGrant.renewalFailed(String.valueOf(cause.getMessage()));
  }
}
