package io.fenceline.testbed.proxy;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/**
 * Which requests a fault strikes.
 *
 * <pre>{@code
 * proxy.dropReply(Trigger.nth(2, request -> request.is("EVALSHA")));
 * }</pre>
 *
 * <p>Counting starts when the fault is set; every fault needs a trigger of its own.
 */
public final class Trigger {

  private static final int EVERY = 0;

  private final int strikesAt;
  private final Predicate<? super Frame> matching;
  private final AtomicInteger matches = new AtomicInteger();

  private Trigger(int strikesAt, Predicate<? super Frame> matching) {
    this.strikesAt = strikesAt;
    this.matching = matching;
  }

  /** The first request that matches, and no other. */
  public static Trigger first(Predicate<? super Frame> matching) {
    return nth(1, matching);
  }

  /** The {@code n}-th request that matches, counted from 1, and no other. */
  public static Trigger nth(int n, Predicate<? super Frame> matching) {
    if (n < 1) {
      throw new IllegalArgumentException("n must be at least 1 but is " + n);
    }
    return new Trigger(n, matching);
  }

  /** Every request that matches. */
  public static Trigger every(Predicate<? super Frame> matching) {
    return new Trigger(EVERY, matching);
  }

  boolean strikes(Frame frame) {
    if (!matching.test(frame)) {
      return false;
    }
    int match = matches.incrementAndGet();
    return strikesAt == EVERY || match == strikesAt;
  }
}
