package io.fenceline.recipes.once;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Records of one process, for tests and for work that is not to outlive it. */
public final class MemoryRecords extends OnceRecords<Work> {
  private static final int SWEPT_AT_ONCE = 1_000;

  private record Finished(String name, long token, Instant at) {}

  // Guarded by this.
  private final Map<String, Entry> entries = new HashMap<>();

  /** Of each kind, in the order in which they finished. */
  private final Map<String, ArrayDeque<Finished>> finished = new HashMap<>();

  private MemoryRecords() {}

  /** Records of their own. */
  public static MemoryRecords create() {
    return new MemoryRecords();
  }

  /** Returns how many there are. */
  public synchronized int size() {
    return entries.size();
  }

  @Override
  String kind() {
    return "memory";
  }

  @Override
  synchronized Optional<Entry> find(String name) {
    return Optional.ofNullable(entries.get(name));
  }

  @Override
  synchronized Entry begin(
      String name, String fingerprint, long token, String worker, boolean rerun, Instant now) {
    Entry found = entries.get(name);
    if (found != null) {
      boolean takeOver =
          rerun
              && !found.isFinished()
              && found.token() < token
              && found.fingerprint().equals(fingerprint);
      if (!takeOver) {
        return found;
      }
    }
    int attempts = found == null ? 1 : found.attempts() + 1;
    Entry begun =
        new Entry(OnceReport.State.BEGUN, fingerprint, token, attempts, now, worker, null);
    entries.put(name, begun);
    return begun;
  }

  @Override
  synchronized boolean finish(String name, long token, long by, Outcome outcome, Instant now) {
    Entry found = entries.get(name);
    if (found == null || !found.isBegunBy(token)) {
      return found != null && found.isFinished() && found.token() == by;
    }
    entries.put(
        name,
        new Entry(
            outcome.state(),
            found.fingerprint(),
            by,
            found.attempts(),
            found.since(),
            found.worker(),
            outcome.result().clone()));
    finished
        .computeIfAbsent(kindOf(name), kind -> new ArrayDeque<>())
        .add(new Finished(name, by, now));
    return true;
  }

  @Override
  synchronized boolean clear(String name, long token) {
    Entry found = entries.get(name);
    if (found == null || !found.isBegunBy(token)) {
      return false;
    }
    entries.remove(name);
    return true;
  }

  @Override
  synchronized boolean sweep(String kind, Duration retention, Instant now) {
    ArrayDeque<Finished> queue = finished.getOrDefault(kind, new ArrayDeque<>());
    Instant before = now.minus(retention);
    int swept = 0;
    while (swept < SWEPT_AT_ONCE && !queue.isEmpty() && queue.peek().at().isBefore(before)) {
      Finished oldest = queue.remove();
      Entry entry = entries.get(oldest.name());
      if (entry != null && entry.isFinished() && entry.token() == oldest.token()) {
        entries.remove(oldest.name());
      }
      swept++;
    }
    return swept == SWEPT_AT_ONCE;
  }

  @Override
  Session<Work> open(Work plain) {
    return plain(this, plain);
  }
}
