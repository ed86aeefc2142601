package io.fenceline.recipes.election;

import io.fenceline.FencingToken;
import io.fenceline.Hold;
import io.fenceline.settings.Durations;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One leadership, from the grant to the release. */
final class Term implements Leadership {
  /*
   * How two leaders could be at work, and why they are not:
   *
   * - The lease ends while the task runs. The deadline is watched by a timer of this term, beside
   *   the client's own signal, which runs on an executor that the user may have filled: at the
   *   deadline the thread is interrupted and leadership() is empty, before the store lets the next
   *   one in. What a task does after that is stopped by its token.
   * - A renewal moves the deadline while the timer runs. The timer judges by the hold, and sets
   *   itself again; it never trusts the deadline that it was set for.
   * - Resigning releases the lock while the task runs. The release comes after the task's return,
   *   or after stopWithin, which the log tells of.
   * - The interrupt hits what the thread does after the task: the next wait for the lock would lose
   *   its place in the queue. Interrupt and end of the task exclude each other by the monitor.
   * - A release that arrives late frees another's grant. It can't: I5, a release names its grant.
   */
  private static final Logger LOG = LoggerFactory.getLogger(Election.class);
  private static final long SHORTEST_LOOK_NANOS = 1_000_000;

  private final Hold hold;
  private final Time time;
  private final Duration stopWithin;
  private final Gate gate;
  private final Thread thread;

  // Guarded by this.
  private final List<Consumer<? super TermEnd>> listeners = new ArrayList<>();
  private final List<Time.Timer> limits = new ArrayList<>();
  private Time.@Nullable Timer deadline;
  private boolean running = true;
  private boolean interrupted;

  private volatile @Nullable TermEnd told;

  /** Whether the lock was given back though the task has not returned. */
  private volatile boolean leftBehind;

  Term(Hold hold, Time time, Duration stopWithin, Gate gate) {
    this.hold = hold;
    this.time = time;
    this.stopWithin = stopWithin;
    this.gate = gate;
    this.thread = Thread.currentThread();
  }

  /** Begins to watch the deadline; called by the thread that runs the task. */
  void begin(Optional<Duration> longest) {
    watchDeadline();
    longest.ifPresent(
        limit -> {
          synchronized (this) {
            limits.add(time.schedule(limit.toNanos(), () -> tell(TermEnd.TERM_LIMIT)));
          }
        });
    hold.onLost(lost -> tell(TermEnd.LOST));
  }

  private void watchDeadline() {
    long left = hold.remaining().toNanos();
    synchronized (this) {
      if (running) {
        deadline = time.schedule(Math.max(SHORTEST_LOOK_NANOS, left), this::atDeadline);
      }
    }
  }

  private void atDeadline() {
    if (hold.isValid()) {
      watchDeadline(); // It was renewed meanwhile.
    } else {
      tell(TermEnd.LOST);
    }
  }

  /** Tells the task to stop, unless it has ended or was told before. */
  boolean tell(TermEnd reason) {
    List<Consumer<? super TermEnd>> informed;
    synchronized (this) {
      if (!running || told != null) {
        return false;
      }
      told = reason;
      interrupted = true;
      thread.interrupt();
      informed = List.copyOf(listeners);
      listeners.clear();
      limits.add(time.schedule(stopWithin.toNanos(), this::leaveBehind));
    }
    gate.changed();
    informed.forEach(listener -> call(listener, reason));
    return true;
  }

  private void call(Consumer<? super TermEnd> listener, TermEnd reason) {
    time.lane(Lane.LOSS)
        .execute(
            () -> {
              try {
                listener.accept(reason);
              } catch (RuntimeException e) {
                LOG.warn("Election '{}': a listener failed (term={})", name(), term(), e);
              }
            });
  }

  /** The task does not stop: others are let in all the same, and only a fence stops its writes. */
  private void leaveBehind() {
    synchronized (this) {
      if (!running) {
        return;
      }
    }
    LOG.warn(
        "Election '{}': the leader's task has not returned {} after it was interrupted, since {}"
            + " (term={}, thread={}). Another leader may begin; only a fence stops what it writes.",
        name(),
        Durations.show(stopWithin),
        told == null ? "" : told.meaning(),
        term(),
        thread.getName());
    hold.releaseAsync()
        .whenComplete(
            (outcome, failure) -> {
              leftBehind = true;
              gate.changed();
            });
  }

  boolean isLeftBehind() {
    return leftBehind;
  }

  /** Ends the watch; an interrupt of ours that the task did not use up is taken back. */
  synchronized void end() {
    running = false;
    limits.forEach(Time.Timer::cancel);
    limits.clear();
    if (deadline != null) {
      deadline.cancel();
    }
    listeners.clear();
    if (interrupted) {
      boolean unused = Thread.interrupted();
    }
  }

  @Nullable TermEnd told() {
    return told;
  }

  @Override
  public String name() {
    return hold.name();
  }

  @Override
  public long term() {
    return hold.token();
  }

  @Override
  public FencingToken fencingToken() {
    return hold.fencingToken();
  }

  @Override
  public Instant since() {
    return hold.acquiredAt();
  }

  @Override
  public boolean isValid() {
    return hold.isValid();
  }

  @Override
  public Duration remaining() {
    return hold.remaining();
  }

  @Override
  public void ensure(Duration duration) throws InterruptedException {
    hold.ensure(duration);
  }

  @Override
  public void onLost(Consumer<? super TermEnd> listener) {
    TermEnd already;
    synchronized (this) {
      already = told;
      if (already == null) {
        if (running) {
          listeners.add(listener);
        }
        return;
      }
    }
    call(listener, already);
  }

  @Override
  public boolean awaitEnd(Duration maxWait) throws InterruptedException {
    Durations.checkNotNegative("maxWait", maxWait);
    boolean ended = gate.await(maxWait.toNanos(), () -> told != null || !hold.isValid());
    if (ended) {
      useUpInterrupt();
    }
    return ended;
  }

  /** The answer has told of it; what the task does to come to an end must not be hit by it. */
  private synchronized void useUpInterrupt() {
    if (interrupted && Thread.currentThread() == thread) {
      interrupted = false;
      boolean unused = Thread.interrupted();
    }
  }

  @Override
  public String toString() {
    return "Leadership of '%s' (term=%d, remaining=%s)"
        .formatted(name(), term(), Durations.show(remaining()));
  }
}
