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
 * <p>{@link #attempt} is its one entry. Switched off, every claim lists the queue, and nothing else
 * changes.
 */
public final class FastPath {
  /*
   * A node's sequence counts the nodes that its folder had before, of whatever mode and whoever made
   * them. When an exclusive claim had the name, all nodes before its own were gone; once the deletion
   * of its node was answered, its own was gone, too. So if our next node has the very next sequence,
   * nobody has come between, and nobody is ahead of it. Only exclusive claims prove that the nodes
   * before them are gone, but nodes of every mode take a sequence.
   *
   * What would break it, and why it can't:
   *
   * - The folder is removed when it is empty, and made again by another client: its sequences start
   *   again, and the other client may be ahead of us with a sequence that we took for gone. So what
   *   is known of a name counts only while a watch guards its folder, and only for nodes whose
   *   creation was sent after the watch was.
   * - This is the only place where a grant rests on an event that did NOT come. It rests on what the
   *   Programmer's Guide promises (What ZooKeeper Guarantees about Watches): "Watches are ordered with
   *   respect to other events, other watches, and asynchronous replies. The ZooKeeper client libraries
   *   ensures that everything is dispatched in order." So by the time that the answer to a creation is
   *   heard, a removal of the folder before that creation has been heard. In the code of 3.9: a server
   *   sends the event while it removes the folder (DataTree.deleteNode), before it does anything that
   *   comes later (CommitProcessor.run); the client puts events and answers into one queue, and one
   *   thread takes them (ClientCnxn: SendThread.readResponse, finishPacket, EventThread).
   * - What happens while there is no connection is not told in time. But the loss of a connection is
   *   told, and so is the next connection, before anything that is answered there (SendThread:
   *   cleanAndNotifyState, onConnected). All names are forgotten by either: the client may leave out
   *   the first one, if it has just told of a watch that was removed (EventThread.queueEvent). That
   *   watches are set again is not relied on; a client can be told not to.
   * - A watch that was never set: a name counts only once the read was answered. A server does not
   *   tell of nodes that one may not read (NIOServerCnxn.process), so the watch is set by a read, which
   *   needs the same right. Whoever takes that right from a folder in use, and leaves the right to
   *   create in it, would break this. So would a server that forgets a watch.
   * - A watch that another store on the same connection removes: everyone whose watch it was is told.
   * - A sequence that we do not know of: a reply was lost, or another of our claims waits or gave up.
   *   It is not gone for us, so the one after it is not next, and lists the queue.
   * - Sequences near their end, which repeat, do not count.
   */

  /** How many names are remembered for a session: those that were used last. */
  public static final int MAX_NAMES = 1_000;

  private static final int NONE = -1;

  /** How many claims in a row have to be alone after another client was met. */
  private static final int CALM_CLAIMS = 4;

  private static final int OK = KeeperException.Code.OK.intValue();
  private static final AsyncCallback.VoidCallback IGNORED = (code, path, context) -> {};
  private static final Attempt LISTS = new Attempt(null, null, false);

  private final boolean isOn;
  private final Map<Session, Names> bySession = new ConcurrentHashMap<>();

  public FastPath(boolean isOn) {
    this.isOn = isOn;
  }

  /** Tells what to do for a claim; called right before the creation of its node is sent. */
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

  /** The session has ended. */
  public void forget(Session session) {
    bySession.remove(session);
  }

  /** The store is closed, and its session may go on: removes all watches. */
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

    /** Whether the claim is likely to be alone, so that no list is sent along with its creation. */
    boolean skipsList() {
      return skipsList;
    }

    /** The node was created; returns whether it is proven that nobody is ahead of it. */
    boolean created(int sequence) {
      return names != null && name != null && names.created(name, this, sequence);
    }

    /** The creation has failed; there may be a node all the same. */
    void failed() {
      if (name != null) {
        name.failed();
      }
    }

    /** The claim has had the name, and its node is surely gone. */
    void released() {
      if (name != null) {
        name.released(sequence);
      }
    }
  }

  /** The names of one session, and the watches that guard their folders. */
  private static final class Names implements Session.Listener {
    private final Session session;

    // Guarded by this; the one that was used last is the last.
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
     * Nobody else seems to use this name: guards its folder from now on. A name that is used once
     * costs nothing, and nobody waits for this read.
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
      // Only now: whoever finds it there sends its creation after the watch.
      synchronized (this) {
        names.replace(known.folder, known, next);
      }
    }

    private void unwatch(Name name) {
      name.end();
      if (name.isWatched) {
        // Not if there is no connection: the client would then tell nobody that it is lost.
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

  /** What is known of one life of a name's folder: up to which sequence all nodes are gone. */
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
     * Nothing is known yet.
     *
     * @param isWatched whether a watch was sent for it; if not, it only tells whether one is worth
     *     it
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

    /** Returns whether all nodes before it are gone, as far as this name can tell. */
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

    /** Returns whether what it tells is proven, and not only likely. */
    synchronized boolean isProof() {
      return isGuarded && !ended;
    }

    /** What it tells is over, or of no use any more. */
    synchronized void end() {
      ended = true;
    }

    synchronized boolean hasEnded() {
      return ended;
    }
  }
}
