package io.fenceline.testkit.sim;

import io.fenceline.FencingToken;
import java.util.HashMap;
import java.util.Map;

/**
 * What the locks guard: for each name a resource that checks tokens, and one that does not.
 *
 * <p>The fence keeps two marks, as the guards of the core do: an exclusive token must not be below
 * the largest accepted in any mode, a shared one not below the largest exclusive one.
 */
final class Register {
  /** The two marks of one name, and of its twin that has no fence. */
  private static final class Marks {
    long largest;
    long largestExclusive;
    long unfencedExclusive;

    /** The largest that was accepted, kept apart from the fence to check on it. */
    long accepted;
  }

  private final World world;
  private final Map<String, Marks> names = new HashMap<>();

  Register(World world) {
    this.world = world;
  }

  /**
   * A write has arrived.
   *
   * @param current whether by the server's time the writer holds the name at this moment
   */
  void write(String name, FencingToken token, boolean current) {
    Marks marks = names.computeIfAbsent(name, unused -> new Marks());
    unfenced(marks, token);
    long mark = token.exclusive() ? marks.largest : marks.largestExclusive;
    if (token.value() < mark) {
      world.tally.add(Count.WRITES_FENCED_OFF);
      if (current) {
        throw world.violated(
            Invariant.I4, "the fence of " + name + " refused its holder: " + token + " < " + mark);
      }
      return;
    }
    if (token.exclusive() && token.value() < marks.accepted) {
      throw world.violated(
          Invariant.I4, "the fence of " + name + " let " + token + " in after " + marks.accepted);
    }
    marks.accepted = Math.max(marks.accepted, token.value());
    marks.largest = Math.max(marks.largest, token.value());
    if (token.exclusive()) {
      marks.largestExclusive = token.value();
    }
  }

  /** Without a fence, a writer that was overtaken overwrites what its successor wrote. */
  private void unfenced(Marks marks, FencingToken token) {
    if (token.value() < marks.unfencedExclusive) {
      world.tally.add(Count.UNFENCED_DAMAGE);
    }
    if (token.exclusive()) {
      marks.unfencedExclusive = token.value();
    }
  }
}
