package io.fenceline.runtime;

import org.jspecify.annotations.Nullable;

/**
 * Interrupts a thread whose lock is lost: at most once, however many locks it acquired together,
 * and not at all once they are being released.
 */
final class LossInterrupt {
  private @Nullable Thread thread;

  LossInterrupt(Thread thread) {
    this.thread = thread;
  }

  synchronized void fire() {
    if (thread != null) {
      thread.interrupt();
      thread = null;
    }
  }

  /** From now on the thread is left alone. */
  synchronized void cancel() {
    thread = null;
  }
}
