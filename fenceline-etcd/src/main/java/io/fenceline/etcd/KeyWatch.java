package io.fenceline.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchEvent;
import io.etcd.jetcd.watch.WatchResponse;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A watch for the end of keys; calls back when enough of them are gone, and when something may have
 * been missed. One of a single key can serve one wait after the other ({@link WatchPool}).
 *
 * <p>A broken watch is not resumed: jetcd would go on from a revision that may be later than the
 * last event that it has delivered. Whoever is called back looks, and starts anew.
 */
final class KeyWatch implements Watch.Listener {
  /*
   * A watch from a revision of the past is a slow one: the server keeps it apart until its next round
   * over such watches, each 100 ms, and until then nothing is told, however late it happens. A watch of
   * what comes is served at once. So it is opened without a revision; the server says from where on it
   * sees, and if anything at all was written between that and what was seen of the queue, we look.
   *
   * What would break it, and why it can't:
   *
   * - An end that nobody tells of: it came before the revision that the watch began at. Either the queue
   *   was seen after that, or the look is due. If the answer that says so is lost, so is the watch.
   * - An end of long ago: a server that lags behind begins at an older revision than what was seen of
   *   the queue, and tells of a former use of the same key. Events up to what was seen do not count.
   * - An end between two waits, of which nobody is told: the last one is remembered, and told at once to
   *   a wait whose queue was seen before it.
   * - A watch that has fallen silent without an error, and is used for one wait after the other: only one
   *   that has told of the end that its last wait was for, or has begun in it, is used again.
   */

  private static final long PAUSE_NANOS = 100_000_000;
  private static final Listener NOBODY = end -> {};

  /** What is known of what was watched. */
  enum End {
    /** The watch is broken, or has begun late: nothing is known. */
    UNKNOWN,

    /** Enough is gone. */
    GONE,

    /** It is gone, and had the name for itself: nobody who was ahead of it is left. */
    HANDED_OVER
  }

  /** Whoever waits for the end. */
  interface Listener {
    void ended(End end);
  }

  private final EtcdClient etcd;
  private final ByteSequence name;
  private final Map<ByteSequence, Integer> watched;
  private final int spare;

  // Guarded by this.
  private final Map<ByteSequence, Integer> left;
  private long seenRevision;
  private Listener listener;
  private Watch.@Nullable Watcher watcher;
  private boolean begun;
  private boolean closed;
  private boolean broken;

  // Guarded by this: of one wait after the other.
  private boolean servedBefore;
  private boolean endedMeanwhile;
  private long lastEndRevision;
  private End lastEnd = End.GONE;

  /**
   * Not open yet.
   *
   * @param watched the keys to wait for, with what each of them takes
   * @param spare how much may still be taken when the callback is due
   * @param seenRevision the revision at which the keys were seen
   */
  KeyWatch(
      EtcdClient etcd,
      ByteSequence name,
      Map<ByteSequence, Integer> watched,
      int spare,
      long seenRevision,
      Listener listener) {
    this.etcd = etcd;
    this.name = name;
    this.watched = Map.copyOf(watched);
    this.left = new HashMap<>(watched);
    this.spare = spare;
    this.seenRevision = seenRevision;
    this.listener = listener;
  }

  /** Whether it is open for just these keys. */
  synchronized boolean isFor(Map<ByteSequence, Integer> keys) {
    return !broken && !closed && watched.equals(keys);
  }

  ByteSequence name() {
    return name;
  }

  /**
   * The wait is over.
   *
   * @return whether another one can rely on it
   */
  synchronized boolean rest() {
    boolean told = left.isEmpty();
    left.clear();
    listener = NOBODY;
    return watched.size() == 1 && begun && !broken && !closed && (told || !servedBefore);
  }

  /**
   * Serves another wait, once it is opened again.
   *
   * @return whether it can
   */
  synchronized boolean serve(long seen, Listener next) {
    if (broken || closed) {
      return false;
    }
    servedBefore = true;
    seenRevision = seen;
    listener = next;
    endedMeanwhile = lastEndRevision > seen;
    if (!endedMeanwhile) {
      left.putAll(watched);
    }
    return true;
  }

  /** Begins, or goes on with another wait. */
  void open() {
    Listener told;
    synchronized (this) {
      if (!servedBefore) {
        told = null;
      } else if (endedMeanwhile) {
        told = listener;
      } else {
        return;
      }
    }
    if (told == null) {
      openAtServer();
    } else {
      told.ended(lastEnd());
    }
  }

  private synchronized End lastEnd() {
    return lastEnd;
  }

  private void openAtServer() {
    WatchOption.Builder option =
        WatchOption.builder().withCreateNotify(true).withNoPut(true).withRequireLeader(true);
    boolean one = watched.size() == 1;
    ByteSequence key = one ? watched.keySet().iterator().next() : name;
    if (one) {
      option.withPrevKV(true); // What it says of its standing is told with its end.
    } else {
      option.isPrefix(true);
    }
    Watch.Watcher opened;
    try {
      opened = etcd.watch(key, option.build(), this);
    } catch (RuntimeException e) {
      onError(e);
      return;
    }
    boolean late;
    synchronized (this) {
      watcher = opened;
      late = closed;
    }
    if (late) {
      opened.close();
    }
  }

  @Override
  public void onNext(WatchResponse response) {
    End end = null;
    Listener told;
    synchronized (this) {
      if (closed) {
        return;
      }
      told = listener;
      if (response.isCreatedNotify()) {
        begun = true;
        end = response.getHeader().getRevision() > seenRevision ? End.UNKNOWN : null;
      } else {
        for (WatchEvent event : response.getEvents()) {
          if (event.getEventType() == WatchEvent.EventType.DELETE && isAwaited(event)) {
            end = lastEnd;
          }
        }
        if (left.values().stream().mapToInt(Integer::intValue).sum() > spare) {
          end = null;
        }
      }
    }
    if (end != null) {
      told.ended(end);
    }
  }

  /** Notes the end of a key. */
  private boolean isAwaited(WatchEvent event) {
    lastEndRevision = event.getKeyValue().getModRevision();
    lastEnd = hadIt(event) ? End.HANDED_OVER : End.GONE;
    return lastEndRevision > seenRevision && left.remove(event.getKeyValue().getKey()) != null;
  }

  /** The last value may be missing, where it was compacted away, or say nothing that we know. */
  private static boolean hadIt(WatchEvent event) {
    KeyValue before = event.getPrevKV();
    try {
      return before != null
          && !before.getValue().isEmpty()
          && Entry.of(before).value().hadItsTurnAlone();
    } catch (Entry.ForeignKeyException e) {
      return false;
    }
  }

  @Override
  public void onError(Throwable failure) {
    synchronized (this) {
      if (closed || broken) {
        return;
      }
      broken = true;
    }
    // Not on this thread, which has a lock of jetcd; and not at once: the server may be down.
    Time time = etcd.context().time();
    time.schedule(
        PAUSE_NANOS, () -> time.lane(Lane.WORK).execute(() -> listener().ended(End.UNKNOWN)));
  }

  private synchronized Listener listener() {
    return listener;
  }

  @Override
  public void onCompleted() {
    onError(new IllegalStateException("the watch has ended"));
  }

  void close() {
    Watch.Watcher last;
    synchronized (this) {
      closed = true;
      last = watcher;
    }
    if (last != null) {
      last.close();
    }
  }
}
