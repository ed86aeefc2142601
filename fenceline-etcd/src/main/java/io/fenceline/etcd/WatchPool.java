package io.fenceline.etcd;

import io.etcd.jetcd.ByteSequence;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Watches that no wait needs just now, kept open for a while.
 *
 * <p>Processes that take turns wait for the same key again and again: that of the process whose
 * turn is before theirs. A new watch is a stream of its own, and begins late: whatever was written
 * until then has to be looked for.
 *
 * <p>One a name: more of them would have every process hear of every turn.
 */
final class WatchPool {
  private static final long KEPT_NANOS = 2_000_000_000L;
  private static final int MOST = 64;

  private record Idle(KeyWatch watch, long sinceNanos) {}

  private final Time time;

  // Guarded by this.
  private final Map<ByteSequence, Idle> idle = new HashMap<>();
  private Time.@Nullable Timer timer;
  private boolean closed;

  WatchPool(Time time) {
    this.time = time;
  }

  /** A watch for just this that is open already; it has yet to be told to go on. */
  @Nullable KeyWatch take(
      ByteSequence name,
      Map<ByteSequence, Integer> watched,
      long seenRevision,
      KeyWatch.Listener listener) {
    Idle found;
    synchronized (this) {
      found = idle.remove(name);
    }
    if (found == null) {
      return null;
    }
    if (found.watch.isFor(watched) && found.watch.serve(seenRevision, listener)) {
      return found.watch;
    }
    found.watch.close();
    return null;
  }

  /** A wait is over. */
  void giveBack(KeyWatch watch) {
    if (!watch.rest() || !keep(watch)) {
      watch.close();
    }
  }

  private synchronized boolean keep(KeyWatch watch) {
    if (closed || idle.size() >= MOST || idle.containsKey(watch.name())) {
      return false;
    }
    idle.put(watch.name(), new Idle(watch, time.nanos()));
    if (timer == null) {
      timer = closeLater();
    }
    return true;
  }

  private Time.Timer closeLater() {
    return time.schedule(KEPT_NANOS, () -> time.lane(Lane.WORK).execute(this::closeOld));
  }

  private void closeOld() {
    List<KeyWatch> old = new ArrayList<>();
    synchronized (this) {
      long now = time.nanos();
      for (Iterator<Idle> each = idle.values().iterator(); each.hasNext(); ) {
        Idle next = each.next();
        if (now - next.sinceNanos >= KEPT_NANOS) {
          old.add(next.watch);
          each.remove();
        }
      }
      timer = idle.isEmpty() ? null : closeLater();
    }
    old.forEach(KeyWatch::close);
  }

  void close() {
    List<KeyWatch> last = new ArrayList<>();
    synchronized (this) {
      closed = true;
      idle.values().forEach(each -> last.add(each.watch));
      idle.clear();
      if (timer != null) {
        timer.cancel();
      }
    }
    last.forEach(KeyWatch::close);
  }
}
