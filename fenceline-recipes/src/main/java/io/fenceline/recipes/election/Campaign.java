package io.fenceline.recipes.election;

import io.fenceline.ClientClosedException;
import io.fenceline.FencedLock;
import io.fenceline.Hold;
import io.fenceline.settings.Durations;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The life of one candidate, on a thread of its own: wait, lead, give back, pause, again. */
final class Campaign implements Candidate, Runnable {
  /*
   * What could go wrong, and why it does not:
   *
   * - close() interrupts a wait for the lock that was granted at the same moment. The grant is then
   *   given together with the interrupt; begin() sees that this is closed, and gives it back.
   * - A task that does not stop, and a second term in the same process beside it. The thread that
   *   runs the task is the one that campaigns: there is no second term before the task has returned.
   * - A task that fails at once, on a fast store: an election a millisecond. Failures back off,
   *   twice as long each time, and a term that ended otherwise pauses once before the next.
   * - The client is closed. The wait fails with ClientClosedException, and the candidate ends.
   */
  private static final Logger LOG = LoggerFactory.getLogger(Election.class);

  /** How long close() waits beyond stopWithin: for the release that goes with it. */
  private static final Duration RELEASE = Duration.ofSeconds(10);

  private final String name;
  private final FencedLock lock;
  private final Time time;
  private final Election.Settings settings;
  private final LeaderTask task;
  private final Gate gate;
  private final Thread thread;

  private volatile State state = State.CAMPAIGNING;
  private volatile @Nullable Term term;
  private volatile boolean closed;
  private int failures;

  Campaign(FencedLock lock, Time time, Election.Settings settings, LeaderTask task) {
    this.name = lock.name();
    this.lock = lock;
    this.time = time;
    this.settings = settings;
    this.task = task;
    this.gate = new Gate(time);
    this.thread = new Thread(null, this, "fenceline-election-" + name, 0, false);
    this.thread.setDaemon(true);
    // As always; newer versions of Java would give a thread that inherits nothing the system's.
    this.thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
  }

  Campaign start() {
    thread.start();
    return this;
  }

  @Override
  public void run() {
    try {
      while (!closed) {
        become(State.CAMPAIGNING);
        Hold hold = elected();
        if (hold != null) {
          lead(hold);
        }
      }
    } finally {
      closed = true;
      become(State.CLOSED);
    }
  }

  /** Waits to be elected; null if that failed, or this is closed. */
  @SuppressWarnings("MustBeClosedChecker") // Released when the term is over.
  private @Nullable Hold elected() {
    try {
      return lock.acquire();
    } catch (InterruptedException e) {
      return null; // By close(); or by a task that left an interrupt behind, and is asked again.
    } catch (ClientClosedException e) {
      LOG.info("Election '{}': the candidate ends, since its client is closed", name);
      closed = true;
    } catch (RuntimeException e) {
      failures++;
      LOG.warn(
          "Election '{}': campaigning failed; the next attempt is in {}",
          name,
          Durations.show(backOff()),
          e);
      pause(backOff());
    }
    return null;
  }

  private void lead(Hold hold) {
    Term mine = new Term(hold, time, settings.stopWithin(), gate);
    if (!begin(mine)) {
      hold.close();
      return;
    }
    mine.begin(settings.longestTerm());
    Throwable failure = null;
    try {
      task.lead(mine);
    } catch (Throwable e) { // Whatever it throws: the lock is given back, and the thread goes on.
      failure = e;
    }
    mine.end();
    boolean unused = Thread.interrupted(); // What the task did to itself is no order to us.
    hold.release();
    term = null;
    judge(mine, failure);
  }

  private synchronized boolean begin(Term mine) {
    if (closed) {
      return false;
    }
    boolean unused = Thread.interrupted();
    term = mine;
    become(State.LEADING);
    return true;
  }

  private void judge(Term ended, @Nullable Throwable failure) {
    TermEnd told = ended.told();
    if (told != null) {
      LOG.info(
          "Election '{}': the term is over, since {} (term={})",
          name,
          told.meaning(),
          ended.term());
      failures = 0;
      if (told != TermEnd.LOST) {
        pause(settings.firstBackOff());
      }
    } else if (failure == null) {
      failures = 0;
      pause(settings.firstBackOff());
    } else {
      failures++;
      LOG.warn(
          "Election '{}': the leader's task failed, and the leadership was given up (term={},"
              + " failures={}); campaigns again in {}",
          name,
          ended.term(),
          failures,
          Durations.show(backOff()),
          failure);
      pause(backOff());
    }
  }

  private Duration backOff() {
    Duration pause = settings.firstBackOff();
    for (int i = 1; i < failures && pause.compareTo(settings.longestBackOff()) < 0; i++) {
      pause = pause.multipliedBy(2);
    }
    return pause.compareTo(settings.longestBackOff()) < 0 ? pause : settings.longestBackOff();
  }

  private void pause(Duration pause) {
    if (!closed) {
      become(State.BACKING_OFF);
      gate.awaitUninterruptibly(pause.toNanos(), () -> closed);
    }
  }

  private void become(State next) {
    state = next;
    gate.changed();
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public State state() {
    return state;
  }

  @Override
  public Optional<Leadership> leadership() {
    Term now = term;
    return now != null && now.told() == null && now.isValid() ? Optional.of(now) : Optional.empty();
  }

  @Override
  public Optional<Leadership> awaitLeadership(Duration maxWait) throws InterruptedException {
    Durations.checkNotNegative("maxWait", maxWait);
    gate.await(maxWait.toNanos(), () -> leadership().isPresent() || state == State.CLOSED);
    return leadership();
  }

  @Override
  public boolean resign() {
    Term now = term;
    return now != null && now.tell(TermEnd.RESIGNED);
  }

  @Override
  public void close() {
    Term now;
    synchronized (this) {
      now = term;
      if (!closed) {
        closed = true;
        if (now == null) {
          thread.interrupt(); // It waits for the lock.
        }
      }
    }
    gate.changed();
    if (now != null) {
      now.tell(TermEnd.CLOSED);
    }
    if (Thread.currentThread() != thread) {
      gate.awaitUninterruptibly(
          settings.stopWithin().plus(RELEASE).toNanos(),
          () -> state == State.CLOSED || (now != null && now.isLeftBehind()));
    }
  }

  @Override
  public String toString() {
    return "Candidate for '%s' (%s)".formatted(name, state);
  }
}
