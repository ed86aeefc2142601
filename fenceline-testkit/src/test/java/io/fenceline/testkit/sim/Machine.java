package io.fenceline.testkit.sim;

import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * One simulated process, and time as it sees it: clocks that run a little fast or slow, timers that
 * fire a little late, and threads that take their turn when the world gives it to them.
 */
final class Machine extends Host implements Time {
  /** Sources of events whose order is kept, each a thread of its own. */
  static final int TIMERS = 1;

  static final int RENEWALS = 2;
  static final int USER = 3;

  private static final int CALLBACK_THREADS = 1;

  /** The first of the sources without an order. */
  private static final int POOLS = 100;

  static final long WALL_START_MILLIS = 1_800_000_000_000L;

  /** A process that died while a call of its own was blocked: unwinds that call. */
  static final class Died extends Error {
    private static final long serialVersionUID = 1L;

    Died() {
      super("the process died", null, false, false);
    }
  }

  /** How late a timer may fire, and how late a lane may start: the slack of every bound in time. */
  static final long LATEST_NANOS = 3_000_000;

  private final double rate;
  private final long origin;
  private long wallOffsetNanos;
  private long stoodStillNanos;
  private long jumpedNanos;
  private boolean wallWasSetBack;
  private boolean wasSuspended;
  private long lastResumed = -1;
  private long renewalsBusyUntil;
  private final ArrayDeque<Runnable> waitingCallbacks = new ArrayDeque<>();
  private int callbacks;
  private int pools = POOLS;
  private int timers;

  /**
   * A process.
   *
   * @param driftPpm by how many millionths its clock is fast
   */
  Machine(World world, String name, int driftPpm, long origin, long wallOffsetNanos) {
    super(world, name);
    this.rate = 1 + driftPpm / 1e6;
    this.origin = origin;
    this.wallOffsetNanos = wallOffsetNanos;
  }

  // Clocks. -------------------------------------------------------------------------------------

  @Override
  public long nanos() {
    return origin + (long) ((world.now() - stoodStillNanos) * rate);
  }

  @Override
  public long wallMillis() {
    return WALL_START_MILLIS + Math.floorDiv(world.now() + wallOffsetNanos, World.MILLI);
  }

  /** How long a span of this machine's clock really is. */
  long real(long localNanos) {
    return (long) Math.ceil(localNanos / rate);
  }

  /**
   * Sets the wall clock.
   *
   * @return false if it stays as it is: set back after a sleep, nothing could tell of the sleep
   */
  boolean jumpWall(long nanos) {
    if (wasSuspended && nanos < 0) {
      return false;
    }
    wallOffsetNanos += nanos;
    wallWasSetBack |= nanos < 0;
    jumpedNanos += Math.abs(nanos);
    return true;
  }

  /**
   * Puts the machine to sleep: unlike in a pause, its monotonic clock stands still, and only its
   * wall clock can tell.
   *
   * @return false if it only paused: after a wall clock was set back nothing could tell
   */
  boolean suspend(long nanos) {
    pause(nanos);
    if (wallWasSetBack) {
      return false;
    }
    stoodStillNanos += nanos;
    wasSuspended = true;
    return true;
  }

  /** Whether it has run without a stop for this long. */
  boolean ranSince(long nanos) {
    return world.now() - lastResumed >= nanos;
  }

  @Override
  void resumed() {
    lastResumed = world.now();
  }

  /** By how much its clocks have come apart. */
  long clockSlackNanos() {
    return stoodStillNanos + jumpedNanos;
  }

  /** Whether its holds are judged by a wall clock that has no margin. */
  boolean wasSuspended() {
    return wasSuspended;
  }

  // Timers and lanes. ---------------------------------------------------------------------------

  @Override
  public Timer schedule(long delayNanos, Runnable task) {
    SimTimer timer = new SimTimer(nanos() + Math.max(0, delayNanos), task);
    timers++;
    timer.arm();
    return timer;
  }

  /** A timer that looks at the clock when it fires: the machine may have slept. */
  private final class SimTimer implements Timer {
    private final long due;
    private final Runnable task;
    private World.@Nullable Event event;
    private boolean over;

    SimTimer(long due, Runnable task) {
      this.due = due;
      this.task = task;
    }

    void arm() {
      long late = world.chance(100) ? world.nanosBelow(LATEST_NANOS / 3) : 0;
      long wait = real(Math.max(0, due - nanos()));
      event = world.after(wait + late, Machine.this, TIMERS, "timer", this::fire);
    }

    private void fire() {
      if (over) {
        return;
      }
      if (nanos() < due) {
        arm();
        return;
      }
      over = true;
      timers--;
      task.run();
    }

    @Override
    public void cancel() {
      if (!over) {
        over = true;
        timers--;
        if (event != null) {
          event.over = true;
        }
      }
    }
  }

  /** How many timers are set. */
  int timers() {
    return timers;
  }

  @Override
  public Executor lane(Lane lane) {
    return switch (lane) {
      case RENEWAL -> this::runRenewal;
      case WORK -> task -> world.after(laneDelay(), this, pools++, "work", task);
      case REQUEST -> task -> world.after(laneDelay(), this, pools++, "request", task);
      case UNDO -> task -> world.after(laneDelay(), this, pools++, "undo", task);
      case LOSS, EVENT -> task -> world.after(laneDelay(), this, pools++, "loss", task);
      case CALLBACK ->
          task -> world.after(laneDelay(), this, pools++, "callback", () -> runCallback(task));
    };
  }

  /** The threads for user code are few here: whoever waits for one of them in vain is found. */
  private void runCallback(Runnable task) {
    if (callbacks == CALLBACK_THREADS) {
      waitingCallbacks.add(task);
      return;
    }
    callbacks++;
    try {
      task.run();
    } finally {
      callbacks--;
      Runnable next = waitingCallbacks.poll();
      if (next != null) {
        world.after(0, this, pools++, "callback", () -> runCallback(next));
      }
    }
  }

  private void runRenewal(Runnable task) {
    renewalsBusyUntil = Math.max(renewalsBusyUntil, world.now() + laneDelay());
    world.after(renewalsBusyUntil - world.now(), this, RENEWALS, "renewal", task);
  }

  private long laneDelay() {
    return world.chance(50) ? world.nanosBelow(LATEST_NANOS / 3) : 1_000 + world.nanosBelow(20_000);
  }

  /** Lets the world go on until something has happened to this machine, or the time is over. */
  @Override
  public void park(Object blocker, long maxNanos) {
    long end = maxNanos > Long.MAX_VALUE / 4 ? Long.MAX_VALUE / 4 : maxNanos;
    Timer alarm = schedule(end, () -> {});
    do {
      world.step();
      if (isDead()) {
        throw new Died();
      }
    } while (!isRunning());
    alarm.cancel();
  }

  /** A user's action. */
  void user(long delayNanos, String what, Runnable task) {
    world.after(delayNanos, this, USER, what, task);
  }

  @Override
  public void close() {}
}
