package io.fenceline.jdbc.connection;

import io.fenceline.time.Time;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * A caller's own thread, on which its request is made: how long it may be kept, and whether an
 * interrupt frees it.
 *
 * <p>Drivers can't be told to stop in the middle of a request. {@link BoundedSockets} can: they ask
 * here while they wait for the server, and fail the connection once the thread is wanted back.
 */
final class CallersThread {
  private static final ThreadLocal<@Nullable CallersThread> KEPT = new ThreadLocal<>();
  private static final @Nullable MethodHandle IS_VIRTUAL = isVirtualMethod();

  private final Time time;
  private final long endNanos;
  private final boolean interruptible;

  CallersThread(Time time, long mostNanos, boolean interruptible) {
    this.time = time;
    this.endNanos = time.nanos() + mostNanos;
    this.interruptible = interruptible;
  }

  /** The caller whose request is being made on this thread; null on threads of ours. */
  static @Nullable CallersThread kept() {
    return KEPT.get();
  }

  /** Makes a request on this thread. */
  <T extends @Nullable Object> T keep(Request<T> request) throws SQLException {
    CallersThread outer = KEPT.get();
    KEPT.set(this);
    try {
      return request.make();
    } finally {
      if (outer == null) {
        KEPT.remove();
      } else {
        KEPT.set(outer);
      }
    }
  }

  /** A request that is made on the caller's thread. */
  @FunctionalInterface
  interface Request<T extends @Nullable Object> {
    T make() throws SQLException;
  }

  long leftNanos() {
    return endNanos - time.nanos();
  }

  /** Whether the caller waits no longer. */
  boolean isWantedBack() {
    return leftNanos() <= 0 || (interruptible && Thread.currentThread().isInterrupted());
  }

  /**
   * Whether this thread can be kept at all: an interrupt of a virtual thread closes the socket that
   * it waits for, also where the caller does not listen to interrupts.
   */
  static boolean canBeKept() {
    return !isVirtual(Thread.currentThread());
  }

  private static boolean isVirtual(Thread thread) {
    try {
      return IS_VIRTUAL != null && (boolean) IS_VIRTUAL.invokeExact(thread);
    } catch (Throwable e) {
      return true; // Then it is not kept.
    }
  }

  private static @Nullable MethodHandle isVirtualMethod() {
    try {
      return MethodHandles.publicLookup()
          .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
    } catch (ReflectiveOperationException e) {
      return null; // Before Java 21 there are none.
    }
  }
}
