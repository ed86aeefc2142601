package io.fenceline.recipes.cache;

import io.fenceline.Fenceline;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A shared tier of one process, for tests. */
public final class MemoryTier extends SharedTier {
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  private record Entry(
      byte @Nullable [] value, long freshUntilNanos, long keptUntilNanos, long token) {}

  private final Time time;

  // Guarded by this.
  private final Map<String, Entry> entries = new HashMap<>();

  private MemoryTier(Time time) {
    this.time = time;
  }

  /** Returns a tier that lives by the clock of a client; several clients may share it. */
  public static MemoryTier of(Fenceline fenceline) {
    return new MemoryTier(fenceline.time());
  }

  @Override
  String kind() {
    return "memory";
  }

  private @Nullable Entry entry(String name) {
    long now = time.nanos();
    entries.values().removeIf(entry -> entry.keptUntilNanos - now <= 0);
    return entries.get(name);
  }

  @Override
  synchronized Optional<Stored> find(String name) {
    Entry entry = entry(name);
    byte[] value = entry == null ? null : entry.value;
    return entry == null || value == null
        ? Optional.empty()
        : Optional.of(new Stored(value, Duration.ofNanos(entry.freshUntilNanos - time.nanos())));
  }

  @Override
  synchronized Look begin(String name, long token, Duration longestLoad) {
    Optional<Stored> found = find(name).filter(Stored::isFresh);
    if (found.isPresent()) {
      return new Look(false, found);
    }
    Entry entry = entry(name);
    if (entry != null && entry.token > token) {
      return new Look(false, Optional.empty());
    }
    long now = time.nanos();
    long until = now + longestLoad.toNanos();
    entries.put(
        name,
        entry == null
            ? new Entry(null, now, until, token)
            : new Entry(
                entry.value, entry.freshUntilNanos, Math.max(until, entry.keptUntilNanos), token));
    return new Look(true, Optional.empty());
  }

  @Override
  synchronized boolean put(String name, long token, byte[] value, Duration fresh, Duration keep) {
    Entry entry = entry(name);
    if (entry == null || entry.token != token) {
      return false;
    }
    long now = time.nanos();
    entries.put(name, new Entry(value, now + fresh.toNanos(), now + keep.toNanos(), token));
    return true;
  }

  @Override
  synchronized void remove(String name) {
    entries.remove(name);
  }
}
