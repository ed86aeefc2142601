package io.fenceline.zookeeper;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.jspecify.annotations.Nullable;

/**
 * The trails of one session, and the watches that guard them.
 *
 * <p>A name that is used once costs nothing: its folder is watched when a claim has got the number
 * after one that this client has given back, by a request that nobody waits for.
 */
final class Trails {
  /*
   * Why a folder that was removed and made again is never taken for the one that is known:
   *
   * - The read that sets the watch is sent before any creation that counts, and a session's requests
   *   are done in order. So a removal of the folder either was before the watch, and the trail is of
   *   its next life, or the watch sees it.
   * - A server tells of the removal while it does it (DataTree.deleteNode), before it does anything
   *   that comes later, and all that it sends to a client goes one way, in order; writes are done one
   *   by one, and no reads meanwhile (CommitProcessor.run). So a client has the event before the
   *   answer to anything that was done after the removal.
   * - ZooKeeper's client puts events and answers into one queue, in the order in which they came, and
   *   one thread takes them (ClientCnxn: SendThread.readResponse, finishPacket, EventThread). By the
   *   time that a creation's answer is heard, a trail that is over has ended.
   * - What happens while there is no connection is not told in time. But the loss of it is, and so is
   *   the next one, to everyone who has a watch, before anything that is answered there (SendThread:
   *   cleanAndNotifyState, onConnected). All trails end by either: the client may leave out the first
   *   one, if it has just told of a watch that was removed (EventThread.queueEvent). That watches are
   *   set again is not relied on; a client can be told not to.
   * - A watch that was never set: the trail counts only once the read was answered. A server does not
   *   tell of nodes that one may not read (NIOServerCnxn.process), so it is a read, which needs the
   *   same right; a look whether there is a node would not. Whoever takes that right from a folder in
   *   use, and leaves the right to create in it, would break this.
   * - An event that is lost: on the way it can't be, unless the connection breaks. A server that
   *   forgets a watch would break this; elsewhere, an event that does not come only delays.
   * - A watch that another store on the same connection removes: everyone whose watch it was is told.
   */

  /** How many names are remembered; of more, those that were used last. */
  static final int MOST = 1_000;

  private static final int OK = KeeperException.Code.OK.intValue();
  private static final AsyncCallback.VoidCallback IGNORED = (code, path, context) -> {};

  private final Session session;

  // Guarded by this; the one that was used last is the last.
  private final LinkedHashMap<String, Trail> trails = new LinkedHashMap<>(16, 0.75f, true);

  Trails(Session session) {
    this.session = session;
  }

  /** The creation of an exclusive claim's node is about to be sent. */
  Trail.Step step(String parent) {
    Trail trail;
    Trail forgotten = null;
    synchronized (this) {
      trail = trails.get(parent);
      if (trail == null || trail.hasEnded()) {
        trail = new Trail(parent, false);
        trails.put(parent, trail);
        forgotten = removeOldest();
      }
    }
    if (forgotten != null) {
      leave(forgotten);
    }
    return trail.step();
  }

  private void leave(Trail trail) {
    trail.end();
    if (trail.isWatched) {
      // Not if there is no connection: the client would then tell nobody that it is lost.
      session.zk.removeAllWatches(trail.parent, Watcher.WatcherType.Data, false, IGNORED, null);
    }
  }

  private @Nullable Trail removeOldest() {
    if (trails.size() <= MOST) {
      return null;
    }
    Iterator<Map.Entry<String, Trail>> all = trails.entrySet().iterator();
    Trail oldest = all.next().getValue();
    all.remove();
    return oldest;
  }

  /** The node of a claim is there; true if nobody is ahead of it. */
  boolean made(Trail.Step step, int number) {
    boolean isNext = step.trail.made(step, number);
    if (isNext && !step.trail.isWatched) {
      watch(step.trail);
    }
    return isNext && step.trail.isProof();
  }

  /** Nobody else seems to use this name: from now on, that is watched. */
  private void watch(Trail known) {
    if (!isCurrent(known)) {
      return;
    }
    Trail next = new Trail(known.parent, true);
    AsyncCallback.DataCallback heard =
        (code, asked, context, data, stat) -> {
          if (code == OK) {
            next.guard();
          } else {
            next.end();
          }
        };
    session.zk.getData(known.parent, session, heard, null);
    // Only now: who finds it there sends its creation after the watch.
    synchronized (this) {
      trails.replace(known.parent, known, next);
    }
  }

  private synchronized boolean isCurrent(Trail trail) {
    return trails.get(trail.parent) == trail;
  }

  /** Something has happened to a folder. */
  void forget(String parent) {
    Trail trail;
    synchronized (this) {
      trail = trails.remove(parent);
    }
    if (trail != null) {
      trail.end();
    }
  }

  /** Something has happened to the connection. */
  void forgetAll() {
    takeAll().forEach(Trail::end);
  }

  /** The store is closed, and its session goes on. */
  void leaveAll() {
    takeAll().forEach(this::leave);
  }

  private synchronized List<Trail> takeAll() {
    List<Trail> all = new ArrayList<>(trails.values());
    trails.clear();
    return all;
  }
}
