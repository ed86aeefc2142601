package io.fenceline.runtime;

import io.fenceline.Guarantee;
import io.fenceline.HandOff;
import io.fenceline.Limits;
import io.fenceline.LockOptions;
import io.fenceline.event.LockListener;
import io.fenceline.spi.Time;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The settings of a client as its builder has collected and checked them. */
public record ClientSettings(
    @Nullable String label,
    LockOptions options,
    Duration connectTimeout,
    Duration operationTimeout,
    Limits limits,
    HandOff handOff,
    long tokenBase,
    Set<Guarantee> required,
    List<LockListener> listeners,
    @Nullable Time time,
    @Nullable RandomGenerator random) {

  /** The largest grant number: with the eight bits of the hand-off, 63 bits are used. */
  public static final long MAX_NUMBER = (1L << 55) - 1;
}
