package io.fenceline.runtime;

import io.fenceline.LockOptions;
import io.fenceline.StoreRefusedException;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.event.LockListener;
import io.fenceline.metrics.ObserverFactory;
import io.fenceline.settings.HandOff;
import io.fenceline.settings.Limits;
import io.fenceline.spi.Refusals;
import io.fenceline.spi.TokenFormat;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The settings of a client as its builder has collected and checked them. */
record ClientSettings(
    @Nullable String label,
    LockOptions options,
    Duration connectTimeout,
    Duration operationTimeout,
    Limits limits,
    HandOff handOff,
    long tokenBase,
    Set<Guarantee> required,
    List<LockListener> listeners,
    List<ObserverFactory> observers,
    @Nullable Executor executor,
    @Nullable Time time,
    @Nullable RandomGenerator random) {

  /** The largest grant number: with the eight bits of the hand-off, 63 bits are used. */
  static final long MAX_NUMBER = (1L << 55) - 1;

  /** Returns the token of another client's grant; null if its number is unknown or too large. */
  @Nullable Long tokenOf(@Nullable Long grantNumber) {
    if (grantNumber == null) {
      return null;
    }
    boolean fits = grantNumber >= 1 && grantNumber <= MAX_NUMBER - tokenBase;
    return fits ? (Long) TokenFormat.of(grantNumber + tokenBase, 0) : null;
  }

  /**
   * Returns the number that tokens are made of: the store's number plus the base.
   *
   * @throws StoreRefusedException if it does not fit; it must never wrap
   */
  long tokenNumber(String name, long grantNumber) {
    if (grantNumber < 1 || grantNumber > MAX_NUMBER - tokenBase) {
      throw Refusals.numberTooLarge(name, grantNumber, MAX_NUMBER - tokenBase);
    }
    return grantNumber + tokenBase;
  }
}
