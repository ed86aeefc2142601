package io.fenceline.spring;

import io.fenceline.Fenceline;
import io.fenceline.LockOptions;
import io.fenceline.spring.Locked.InTransaction;
import io.fenceline.spring.Locked.Mode;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapter;

/**
 * What {@link Locked} says about one method, checked.
 *
 * @param described the method, for messages
 * @param options what the annotation changes
 * @param maxWait null if the settings of the name say
 * @param fallback called instead; null if there is none
 * @param publishes how the method's publisher is adapted; null if it returns none
 * @param ownTransaction whether the method leaves the caller's transaction aside
 * @param client which client; empty for the only one
 */
record LockedOperation(
    String described,
    Method method,
    NameTemplate name,
    Mode mode,
    int permits,
    UnaryOperator<LockOptions> options,
    @Nullable Duration maxWait,
    Returns returns,
    boolean skips,
    @Nullable Fallback fallback,
    FilledParameters filled,
    @Nullable ReactiveAdapter publishes,
    InTransaction inTransaction,
    boolean ownTransaction,
    String client) {

  /** When the method's work is done. */
  enum Returns {
    /** When it returns. */
    RESULT,
    /** When its stage completes. */
    STAGE,
    /** When its publisher completes. */
    PUBLISHER
  }

  /** This call of the method. */
  LockedCall call(
      Fenceline fenceline, LockSettings settings, Object target, @Nullable Object[] arguments) {
    String lock = name.evaluate(target, arguments);
    LockOptions ofClient = fenceline.lock(lock).options();
    return new LockedCall(
        fenceline,
        lock,
        mode,
        permits,
        options.apply(settings.options(lock, ofClient)),
        maxWait == null ? settings.maxWait(lock) : maxWait,
        described,
        inTransaction,
        ownTransaction);
  }
}
