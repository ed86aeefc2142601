package io.fenceline.spring;

import io.fenceline.FencingToken;
import io.fenceline.Hold;
import io.fenceline.LockTimeoutException;
import io.fenceline.PermitHold;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.aot.hint.annotation.Reflective;
import org.springframework.core.annotation.AliasFor;

/**
 * Runs a method, or each public method of a type, under a lock that all processes share.
 *
 * <pre>{@code
 * @Locked("order:#{#id}")
 * @Transactional
 * public void pay(long id, FencingToken token) { … }
 * }</pre>
 *
 * <p>The lock is outside of the transaction: it is acquired before the transaction begins, and
 * released after it has committed. This is checked at start against the real chain of proxies.
 * Inside a transaction that is already running the call is refused: see {@link #inTransaction}.
 *
 * <p>A parameter of type {@link Hold}, {@link FencingToken} or {@link PermitHold} is filled in;
 * callers pass null. Code below the method reads the token from {@link LockedContext}. A method
 * that calls another locked method for the same name, on the same thread, enters the lock again and
 * keeps the token.
 *
 * <p>Methods that return a {@code CompletionStage}, or a publisher such as {@code Mono} and {@code
 * Flux}, hold the lock until the result is complete, and give it up when the subscriber cancels.
 * Other types that only stand for a result to come, such as {@code Future} and {@code Stream}, are
 * refused at start.
 *
 * <p>If the lock is lost while the method runs, {@link io.fenceline.LockLostException} is thrown
 * after it. What the method has written by then is done; a fence that was given the token refuses
 * what came too late.
 *
 * <p>As with every proxy, a call from one method of an object to another of the same object is not
 * seen. {@link LockedContext#assertHeld()} inside the method notices that.
 *
 * <p>Durations are written {@code 250ms}, {@code 5s}, {@code 2m}, {@code 1h} or {@code PT5S}. All
 * text may have <code>${placeholders}</code>. An attribute that is empty takes its value from the
 * settings for this name, and then from those of the client.
 */
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@Reflective(LockedHints.class)
public @interface Locked {

  /** Same as {@link #name}. */
  @AliasFor("name")
  String value() default "";

  /**
   * The name of the lock: text with <code>#{…}</code> expressions, over the parameters by their
   * names ({@code #id}) or places ({@code #p0}), and over beans ({@code @tenants.current()}).
   *
   * <p>Each expression must give text, a number, or something else that can be read as such. One
   * that is null, blank, a collection, or an object without a {@code toString} of its own fails the
   * call: the name would not stand for the thing that is locked.
   */
  @AliasFor("value")
  String name() default "";

  /** How long to wait for the lock; {@code 0s} does not wait. 10 seconds if nothing says. */
  String maxWait() default "";

  /** The lease, which renews itself while the method runs. */
  String lease() default "";

  /** A lease that is not renewed: the lock is lost if the method takes longer. */
  String fixedLease() default "";

  /**
   * Keeps the name closed for this long after it was acquired, even if the method ends sooner: a
   * scheduled job runs once in a fleet, though the clocks of its servers differ.
   */
  String keepAtLeast() default "";

  /** Whether others may hold the lock at the same time. */
  Mode mode() default Mode.EXCLUSIVE;

  /** How many may hold the lock at the same time; for {@link Mode#PERMIT} only. */
  int permits() default 0;

  /** What happens if others keep the lock for all of the wait. */
  OnRefusal onRefusal() default OnRefusal.THROW;

  /**
   * A method of the same class that is called instead, if others keep the lock for all of the wait.
   *
   * <p>It has the same parameters, without those that are filled in, and may have a {@link
   * LockTimeoutException} as its last one. It returns the same type.
   */
  String fallback() default "";

  /** Interrupts the method when the lock is lost; a publisher fails instead. */
  boolean interruptOnLoss() default false;

  /** What happens if the caller is inside a transaction already. */
  InTransaction inTransaction() default InTransaction.REFUSE;

  /** Which {@code Fenceline} bean, by qualifier or name, if there are several. */
  String client() default "";

  /** How a name is held. */
  enum Mode {
    /** By one. */
    EXCLUSIVE,
    /** By any number of readers, while no one holds it exclusively. */
    SHARED,
    /** By as many as there are {@link Locked#permits}. */
    PERMIT
  }

  /** What a method does without its lock: it never runs. */
  enum OnRefusal {
    /** Throws {@link LockTimeoutException}. */
    THROW,
    /** Returns without a call; only for methods that return {@code void} or {@code Optional}. */
    SKIP
  }

  /**
   * What a call inside a running transaction does. A method that begins a transaction of its own
   * ({@code REQUIRES_NEW}, {@code NOT_SUPPORTED}) is called in any case.
   */
  enum InTransaction {
    /**
     * Throws {@link IllegalStateException}. The caller's transaction would commit after the
     * release, and under REPEATABLE READ it reads a snapshot from before the lock.
     */
    REFUSE,
    /**
     * Calls the method, and releases the lock only when the caller's transaction has ended. The
     * transaction is rolled back if the lock is lost before it commits. Right for READ COMMITTED;
     * at stricter levels the method may read data from before the lock.
     */
    HOLD_TO_THE_END
  }
}
