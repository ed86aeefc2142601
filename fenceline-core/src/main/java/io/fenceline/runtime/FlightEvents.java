package io.fenceline.runtime;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/**
 * Events of the JDK's flight recorder, which record nothing unless a recording enables them by
 * name.
 *
 * <p>Their fields are only set, and read by the recorder. A runtime without the module {@code
 * jdk.jfr} loads none of them.
 */
final class FlightEvents {
  private FlightEvents() {}

  /** An acquire, from the call to its outcome. */
  @Name("io.fenceline.Acquire")
  @Label("Lock Acquire")
  @Category("Fenceline")
  @Description("An acquire of a lock, from the call to its outcome")
  @Enabled(false)
  @StackTrace(true)
  @SuppressWarnings("UnusedVariable")
  static final class Acquire extends Event {
    @Label("Lock")
    String lock;

    @Label("Outcome")
    @Nullable String outcome;

    @Label("Contended")
    boolean contended;

    @Label("Token")
    long token;

    @Label("Caller")
    @Description("The thread that asked for the lock")
    Thread caller;

    Acquire(String lock) {
      this.lock = lock;
      this.caller = Thread.currentThread();
    }
  }

  /** A hold, from the grant to its end. */
  @Name("io.fenceline.Hold")
  @Label("Lock Hold")
  @Category("Fenceline")
  @Description("A hold of a lock, from the grant to its end")
  @Enabled(false)
  @StackTrace(false)
  @SuppressWarnings("UnusedVariable")
  static final class Hold extends Event {
    @Label("Lock")
    String lock;

    @Label("Token")
    long token;

    @Label("Outcome")
    @Nullable String outcome;

    @Label("Acquirer")
    @Description("The thread that asked for the lock")
    Thread acquirer;

    Hold(String lock, long token, Thread acquirer) {
      this.lock = lock;
      this.token = token;
      this.acquirer = acquirer;
    }
  }

  /** A loss. */
  @Name("io.fenceline.Lost")
  @Label("Lock Lost")
  @Category("Fenceline")
  @Description("A hold was lost before it was released")
  @Enabled(false)
  @StackTrace(false)
  @SuppressWarnings("UnusedVariable")
  static final class Lost extends Event {
    @Label("Lock")
    String lock;

    @Label("Token")
    long token;

    @Label("Reason")
    String reason;

    Lost(String lock, long token, String reason) {
      this.lock = lock;
      this.token = token;
      this.reason = reason;
    }
  }

  /** A request to the store, from the sending to the first answer. */
  @Name("io.fenceline.StoreRequest")
  @Label("Lock Store Request")
  @Category("Fenceline")
  @Description("A request to the store of the locks, from the sending to the first answer")
  @Enabled(false)
  @StackTrace(false)
  @SuppressWarnings("UnusedVariable")
  static final class StoreRequest extends Event {
    @Label("Lock")
    String lock;

    @Label("Operation")
    String operation;

    @Label("Outcome")
    @Nullable String outcome;

    StoreRequest(String lock, String operation) {
      this.lock = lock;
      this.operation = operation;
    }
  }
}
