package io.fenceline.zookeeper.claim;

import io.fenceline.spi.Mode;
import io.fenceline.zookeeper.session.Session;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.jspecify.annotations.Nullable;

/**
 * The fast path: grants an exclusive claim without a list of the queue, where nobody else uses the
 * name.
 *
 * <p>{@link #attempt} is its one entry. If it is switched off, every claim lists the queue, and
 * nothing else changes.
 */
public final class FastPath {
  /*
   * A node's sequence counts the nodes that were created in its folder before, in any mode and by any
   * client. When an exclusive claim was granted, all nodes before its own were gone; when the deletion
   * of its node was answered, its own was gone, too. So if the next node of this client has the very
   * next sequence, nobody has come in between, and nobody is ahead of it. Only exclusive claims prove
   * that the nodes before them are gone, but nodes of every mode take a sequence.
   *
   * What would break it, and why it can't:
   *
   * - The folder is removed when it is empty, and another client creates it again: sequences start
   *   again, and the other client may be ahead with a sequence that was taken for gone. So what is
   *   known of a name counts only while a watch guards its folder, and only for nodes whose creation
   *   was sent after the watch.
   * - This is the only place where a grant rests on an event that did NOT come. It rests on what the
   *   Programmer's Guide promises (What ZooKeeper Guarantees about Watches): "Watches are ordered with
   *   respect to other events, other watches, and asynchronous replies. The ZooKeeper client libraries
   *   ensures that everything is dispatched in order." So when the answer to a creation arrives, the
   *   event of an earlier removal of the folder has arrived before. In the code of 3.9: a server sends
   *   the event while it removes the folder (DataTree.deleteNode), before it processes any later
   *   request (CommitProcessor.run); the client puts events and answers into one queue, and one thread
   *   takes them (ClientCnxn: SendThread.readResponse, finishPacket, EventThread).
   * - Events that are missed while there is no connection. The client tells of the loss of a
   *   connection, and of the next connection before any answer on it (SendThread: cleanAndNotifyState,
   *   onConnected). Either makes this forget all names, since the client may leave out the first one if
   *   it has just told of a watch that was removed (EventThread.queueEvent). It does not rely on
   *   watches being set again; a client can be told not to do that.
   * - A watch that was never set: a name counts only once the read was answered. A server sends no
   *   events about nodes that the session may not read (NIOServerCnxn.process), so the watch is set by
   *   a read, which needs the same right. To take that right from a folder in use, and leave the right
   *   to create in it, would break this. So would a server that forgets a watch.
   * - A watch that another store on the same connection removes: every owner of the watch is told.
   * - A sequence that this client does not know of: a reply was lost, or another of its claims waits or
   *   gave up. It does not count as gone, so the next node is not proven to be first, and lists.
   * - Sequences near their end, which repeat, do not count.
   */

  /** How many names are remembered for a session, by last use. */
  public static final int MAX_NAMES = 1_000;

  private static final int NONE = -1;

  /** After another client was met, how many claims in a row must be alone again. */
  private static final int CALM_CLAIMS = 4;

  private static final int OK = KeeperException.Code.OK.intValue();
  private static final AsyncCallback.VoidCallback IGNORED = (code, path, context) -> {};
  private static final Attempt LISTS = new Attempt(null, null, false);

  private final boolean isOn;
  private final Map<Session, Names> bySession = new ConcurrentHashMap<>();

  public FastPath(boolean isOn) {
    this.isOn = isOn;
  }

  /** Starts the attempt of a claim; called right before the creation of its node is sent. */
  Attempt attempt(Session session, String folder, Mode mode) {
    return isOn && mode instanceof Mode.Exclusive ? names(session).attempt(folder) : LISTS;
  }

  private Names names(Session session) {
    Names names = bySession.computeIfAbsent(session, Names::new);
    if (session.hasEnded()) {
      bySession.remove(session);
    }
    return names;
  }

  /** Forgets a session that has ended. */
  public void forget(Session session) {
    bySession.remove(session);
  }

  /** Closes this with its store: removes all watches, since the session may go on. */
  public void close() {
    bySession.values().forEach(Names::close);
    bySession.clear();
  }

  /** One claim's try to do without a list. */
  static final class Attempt {
    private final @Nullable Names names;
    private final @Nullable Name name;
    private final boolean skipsList;
    private volatile int sequence = NONE;

    private Attempt(@Nullable Names names, @Nullable Name name, boolean skipsList) {
      this.names = names;
      this.name = name;
      this.skipsList = skipsList;
    }

    /** Whether the claim is likely to be alone, so that its creation is sent without a list. */
    boolean skipsList() {
      return skipsList;
    }

    /** The node was created; returns whether it is proven that nobody is ahead of it. */
    boolean created(int sequence) {
      return names != null && name != null && names.created(name, this, sequence);
    }

    /** The creation has failed, though there may be a node. */
    void failed() {
      if (name != null) {
        name.failed();
      }
    }

    /** The claim was granted, and its node is known to be gone. */
    void released() {
      if (name != null) {
        name.released(sequence);
      }
    }
  }

  /** The names of one session, and the watches that guard their folders. */
  private static final class Names implements Session.Listener {
    private final Session session;

    // Guarded by this; in the order of last use.
    private final LinkedHashMap<String, Name> names = new LinkedHashMap<>(16, 0.75f, true);

    Names(Session session) {
      this.session = session;
      session.addListener(this);
    }

    Attempt attempt(String folder) {
      Name name;
      Name forgotten = null;
      synchronized (this) {
        name = names.get(folder);
        if (name == null || name.hasEnded()) {
          name = new Name(folder, false);
          names.put(folder, name);
          forgotten = removeOldest();
        }
      }
      if (forgotten != null) {
        unwatch(forgotten);
      }
      return name.attempt(this);
    }

    private @Nullable Name removeOldest() {
      if (names.size() <= MAX_NAMES) {
        return null;
      }
      Iterator<Map.Entry<String, Name>> all = names.entrySet().iterator();
      Name oldest = all.next().getValue();
      all.remove();
      return oldest;
    }

    boolean created(Name name, Attempt attempt, int sequence) {
      boolean isNext = name.created(attempt, sequence);
      if (isNext && !name.isWatched) {
        watch(name);
      }
      return isNext && name.isProof();
    }

    /**
     * Guards the folder of a name that nobody else seems to use. A name that is used only once
     * needs no watch, and nobody waits for this read.
     */
    private void watch(Name known) {
      synchronized (this) {
        if (names.get(known.folder) != known) {
          return;
        }
      }
      Name next = new Name(known.folder, true);
      AsyncCallback.DataCallback heard =
          (code, asked, context, data, stat) -> {
            if (code == OK) {
              next.guard();
            } else {
              next.end();
            }
          };
      session.zk.getData(known.folder, session, heard, null);
      // Only now, so that a creation by a claim that finds it here is sent after the watch.
      synchronized (this) {
        names.replace(known.folder, known, next);
      }
    }

    private void unwatch(Name name) {
      name.end();
      if (name.isWatched) {
        // Not without a connection: the client would then not report that the connection is lost.
        session.zk.removeAllWatches(name.folder, Watcher.WatcherType.Data, false, IGNORED, null);
      }
    }

    @Override
    public void nodeChanged(String path) {
      Name name;
      synchronized (this) {
        name = names.remove(path);
      }
      if (name != null) {
        name.end();
      }
    }

    @Override
    public void connectionChanged() {
      takeAll().forEach(Name::end);
    }

    void close() {
      takeAll().forEach(this::unwatch);
    }

    private synchronized List<Name> takeAll() {
      List<Name> all = new ArrayList<>(names.values());
      names.clear();
      return all;
    }
  }

  /** A name's folder, from its creation to its removal: up to which sequence all nodes are gone. */
  static final class Name {
    private final String folder;
    private final boolean isWatched;

    // Guarded by this.
    private boolean isGuarded;
    private boolean ended;
    private int gone = NONE;
    private int newest = NONE;
    private int underWay;
    private int credit;

    /**
     * Starts with no knowledge.
     *
     * @param isWatched whether a watch was sent for it; if not, it only tells whether one is
     *     worthwhile
     */
    Name(String folder, boolean isWatched) {
      this.folder = folder;
      this.isWatched = isWatched;
    }

    synchronized Attempt attempt(@Nullable Names names) {
      boolean isFree = gone != NONE && gone == newest && underWay == 0;
      underWay++;
      return new Attempt(names, this, isGuarded && !ended && isFree && credit >= 0);
    }

    synchronized void failed() {
      underWay--;
    }

    /** Returns whether all nodes before this one are gone, as far as this name can tell. */
    synchronized boolean created(Attempt attempt, int sequence) {
      underWay--;
      attempt.sequence = sequence;
      if (newest != NONE) {
        credit = sequence == newest + 1 ? Math.min(0, credit + 1) : -CALM_CLAIMS;
      }
      newest = Math.max(newest, sequence);
      return gone != NONE && sequence == gone + 1 && LockQueue.isSound(sequence);
    }

    synchronized void released(int sequence) {
      if (LockQueue.isSound(sequence)) {
        gone = Math.max(gone, sequence);
      }
    }

    /** The watch is set. */
    synchronized void guard() {
      isGuarded = true;
    }

    /** Returns whether its knowledge is proven, and not only likely. */
    synchronized boolean isProof() {
      return isGuarded && !ended;
    }

    /** Ends it: its knowledge is out of date, or not needed any more. */
    synchronized void end() {
      ended = true;
    }

    synchronized boolean hasEnded() {
      return ended;
    }
  }
}
