package io.fenceline.testkit.harness;

/**
 * Keeps the tests that work at the same time to a few, however many wait for time to pass.
 *
 * <p>On a real server a test mostly waits for leases to end, so many can run side by side. If all
 * of them began at once, they would keep each other from renewing in time. So a test begins only
 * when few others work; one that has waited goes on at once, because its leases run.
 */
final class StartGate {

  private static final int MOST = 8;

  private int working;

  /** Begins a test, when few others work. */
  synchronized void begin() {
    boolean interrupted = false;
    while (working >= MOST) {
      try {
        wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    working++;
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** A test ends, or begins to wait for time to pass. */
  synchronized void leave() {
    working--;
    notifyAll();
  }

  /** A test goes on after a wait, however many others work. */
  synchronized void goOn() {
    working++;
  }
}
