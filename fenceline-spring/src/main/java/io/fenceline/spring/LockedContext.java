package io.fenceline.spring;

import com.google.errorprone.annotations.CheckReturnValue;
import io.fenceline.Fenceline;
import io.fenceline.FencingToken;
import io.fenceline.Held;
import io.fenceline.Hold;
import io.fenceline.LockLostException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The locks that the current thread runs under, for code below a {@link Locked} method or a {@link
 * LockTemplate}.
 *
 * <pre>{@code
 * fence.check(connection, "order:" + id, LockedContext.currentToken());
 * }</pre>
 *
 * <p>Bound to the thread: work that is handed to another thread does not see it. In Reactor, {@link
 * ReactiveLockedContext} reads it from the subscriber's context.
 */
public final class LockedContext {
  private static final ThreadLocal<@Nullable Frame> CURRENT = new ThreadLocal<>();

  private LockedContext() {}

  /**
   * One lock that is held, inside of others.
   *
   * @param client whose lock it is: names of two clients are two locks
   */
  record Frame(Fenceline client, String name, Held held, @Nullable Frame outer) {

    /** The innermost hold of a lock of this client, if this or an outer frame has it. */
    static @Nullable Hold find(@Nullable Frame inner, Fenceline client, String name) {
      for (Frame frame = inner; frame != null; frame = frame.outer) {
        if (frame.client == client && frame.name.equals(name) && frame.held instanceof Hold hold) {
          return hold;
        }
      }
      return null;
    }

    /** The innermost hold that has a token which fences can judge. */
    static Optional<Hold> innermost(@Nullable Frame inner) {
      for (Frame frame = inner; frame != null; frame = frame.outer) {
        if (frame.held instanceof Hold hold) {
          return Optional.of(hold);
        }
      }
      return Optional.empty();
    }
  }

  /**
   * Returns the token of the innermost lock.
   *
   * @throws IllegalStateException if the thread runs under no lock
   */
  public static FencingToken currentToken() {
    return currentHold().fencingToken();
  }

  /**
   * Returns the hold of the innermost lock. It is released by whoever acquired it.
   *
   * @throws IllegalStateException if the thread runs under no lock
   */
  public static Hold currentHold() {
    return findHold().orElseThrow(() -> new IllegalStateException(nothingHeld("")));
  }

  /** Returns the token of the innermost lock; empty if the thread runs under none. */
  @CheckReturnValue
  public static Optional<FencingToken> findToken() {
    return findHold().map(Hold::fencingToken);
  }

  /** Returns the hold of the innermost lock; empty if the thread runs under none. */
  @CheckReturnValue
  public static Optional<Hold> findHold() {
    return Frame.innermost(CURRENT.get());
  }

  /**
   * Checks that the thread runs under a lock, of any mode, that is still held.
   *
   * @throws IllegalStateException if it runs under none: the method was called past its proxy, say
   * @throws LockLostException if the lock is lost
   */
  public static void assertHeld() {
    Frame frame = CURRENT.get();
    if (frame == null) {
      throw new IllegalStateException(nothingHeld(""));
    }
    requireValid(frame.held);
  }

  /** As {@link #assertHeld()}, for the lock of this name. */
  public static void assertHeld(String name) {
    for (Frame frame = CURRENT.get(); frame != null; frame = frame.outer) {
      if (frame.name.equals(name)) {
        requireValid(frame.held);
        return;
      }
    }
    throw new IllegalStateException(nothingHeld(" '" + name + "'"));
  }

  private static String nothingHeld(String which) {
    return "This thread does not hold lock"
        + which
        + ". A locked method that is called by another method of the same object, or whose work is"
        + " handed to another thread, does not pass through its proxy.";
  }

  /** Throws if something that is not released is no longer valid. */
  static void requireValid(Held held) {
    if (!held.isValid()) {
      held.releaseOrThrow(); // Lost already, so nothing is given back, and it says how.
    }
  }

  static @Nullable Frame current() {
    return CURRENT.get();
  }

  /** Some work that may throw anything, as proxies do. */
  @FunctionalInterface
  interface Work {
    @Nullable Object run() throws Throwable;
  }

  /** Runs something inside a frame; what it throws passes through, checked or not. */
  static @Nullable Object within(@Nullable Frame frame, Work work) {
    Frame before = CURRENT.get();
    CURRENT.set(frame);
    try {
      return work.run();
    } catch (Throwable e) {
      throw LockedContext.<RuntimeException>unchecked(e);
    } finally {
      if (before == null) {
        CURRENT.remove();
      } else {
        CURRENT.set(before);
      }
    }
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <X extends Throwable> X unchecked(Throwable failure) throws X {
    throw (X) failure;
  }
}
