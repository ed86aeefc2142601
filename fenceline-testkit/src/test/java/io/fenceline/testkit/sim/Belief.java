package io.fenceline.testkit.sim;

import io.fenceline.Held;
import io.fenceline.ReleaseOutcome;
import io.fenceline.event.LossReason;
import io.fenceline.spi.Mode;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** One hold as a caller has it: what it believes, and what it was told. */
final class Belief {
  final Machine machine;

  /** What the server granted. */
  final History.Granted grant;

  final String name;
  final String id;
  final Mode mode;
  final long token;
  final Duration delay;
  final Duration keep;

  /** When it began, as far as the machine's clock can tell. */
  final long sinceNanos;

  /** When it was granted or handed on, by the machine's wall clock; the caller hears later. */
  final long acquiredWallMillis;

  /** Kept, so that the hold is never garbage collected: no seed could replay that. */
  final Held held;

  /** When the lease ends by what the hold said last, in the machine's and in the world's time. */
  long deadlineLocal;

  long deadlineReal;

  /** Whether the lease still ran when the caller got it. */
  boolean everValid;

  /** When it was seen to be invalid, or negative. */
  long endedReal = -1;

  /** Whether the hold was asked yet. */
  boolean asked;

  boolean releaseCalled;
  boolean releasedWhileValid;
  @Nullable ReleaseOutcome outcome;
  @Nullable LossReason signalled;
  boolean closedByClient;

  Belief(
      Machine machine,
      History.Granted grant,
      String name,
      String id,
      Mode mode,
      long token,
      Duration delay,
      Duration keep,
      Held held,
      long acquiredWallMillis) {
    this.machine = machine;
    this.grant = grant;
    this.name = name;
    this.id = id;
    this.mode = mode;
    this.token = token;
    this.delay = delay;
    this.keep = keep;
    this.held = held;
    this.acquiredWallMillis = acquiredWallMillis;
    long heardLate = acquiredWallMillis == 0 ? 0 : machine.wallMillis() - acquiredWallMillis;
    this.sinceNanos = machine.world.now() - heardLate * World.MILLI;
    this.deadlineReal = machine.world.now();
    this.deadlineLocal = machine.nanos();
  }

  long number() {
    return token >> 8;
  }

  int handOff() {
    return (int) (token & 0xff);
  }

  /** Until when it believed, at the latest. */
  long believedUntil() {
    return endedReal >= 0 ? Math.min(endedReal, deadlineReal) : deadlineReal;
  }

  boolean isOpen() {
    return !releaseCalled && signalled == null;
  }

  @Override
  public String toString() {
    return "hold " + id + " of " + name + " on " + machine + " (token " + token + ", " + mode + ")";
  }
}
