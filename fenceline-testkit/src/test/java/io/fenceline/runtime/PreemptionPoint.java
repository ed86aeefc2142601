package io.fenceline.runtime;

import java.util.concurrent.CountDownLatch;

/** Where a thread can be stopped: {@link Preemptions} puts calls of this into the runtime. */
public final class PreemptionPoint {
  private static volatile PreemptionPoint armed;

  private final Thread thread;
  private final int number;
  private final CountDownLatch reached = new CountDownLatch(1);
  private final CountDownLatch resumed = new CountDownLatch(1);
  private int passed;
  private volatile String where = "";

  private PreemptionPoint(Thread thread, int number) {
    this.thread = thread;
    this.number = number;
  }

  /** The thread will be stopped at the point with this number, counted from zero. */
  static PreemptionPoint arm(Thread thread, int number) {
    PreemptionPoint point = new PreemptionPoint(thread, number);
    armed = point;
    return point;
  }

  /** A point; called by instrumented code. */
  public static void pass() {
    PreemptionPoint point = armed;
    if (point != null && Thread.currentThread() == point.thread) {
      point.passed();
    }
  }

  private void passed() {
    if (passed++ != number) {
      return;
    }
    where = StackWalker.getInstance().walk(all -> all.skip(2).findFirst().orElseThrow()).toString();
    reached.countDown();
    boolean interrupted = false;
    while (true) {
      try {
        resumed.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  boolean isReached() {
    return reached.getCount() == 0;
  }

  /** Lets the thread go on. */
  void resume() {
    armed = null;
    resumed.countDown();
  }

  /** The place in the source where the thread was stopped. */
  String where() {
    return where;
  }
}
