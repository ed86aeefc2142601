package io.fenceline.zookeeper.renewal;

import io.fenceline.StoreUnavailableException;
import io.fenceline.spi.StoreContext;
import io.fenceline.zookeeper.claim.Claim;
import io.fenceline.zookeeper.claim.Claims;
import io.fenceline.zookeeper.layout.Layout;
import io.fenceline.zookeeper.layout.QueueNode;
import io.fenceline.zookeeper.session.Requests;
import io.fenceline.zookeeper.session.Session;
import io.fenceline.zookeeper.session.Sessions;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/**
 * The nodes that ZooKeeper has of our session: those that we hold must be among them, and those
 * that are neither held nor being asked for are deleted.
 *
 * <p>While they are few, one listing answers for all holds. When they are many, renewals ask for
 * their own nodes ({@link NodeChecks}), and the rest is found out little by little ({@link
 * Sweeper}).
 */
public final class SessionNodes {
  private static final int OK = KeeperException.Code.OK.intValue();
  private static final int UNIMPLEMENTED = KeeperException.Code.UNIMPLEMENTED.intValue();
  private static final int BYTES_PER_NODE = 200;
  private static final int LONGEST_LISTING = 300_000;

  /**
   * What the session had at a time.
   *
   * @param session whose
   * @param sentNanos when it was asked for
   * @param nodes names of nodes; null if the server can't tell (before 3.6)
   */
  record Listing(Session session, long sentNanos, @Nullable Set<String> nodes) {

    /** Whether a grant was still there; one that is younger than the listing is. */
    boolean shows(Claim claim) {
      String node = claim.nodeSeenBefore(sentNanos);
      return nodes == null || node == null || nodes.contains(node);
    }

    /** Whether nothing is left that a store has made. */
    boolean hasNoneOf(String client) {
      return nodes == null
          || nodes.stream()
              .map(QueueNode::parse)
              .noneMatch(node -> node != null && node.client().equals(client));
    }
  }

  /** The folder of all locks as the server knows it, chroot included. */
  final String serverPath;

  private final StoreContext context;
  private final Sessions sessions;
  private final Layout layout;
  private final Claims claims;
  private final String clientTag;
  private final Sweeper sweeper;

  // Guarded by this.
  private @Nullable CompletableFuture<Listing> last;
  private @Nullable Session lastSession;
  private long lastSentNanos;

  /** How many claims there had been when the last of them had left and no node was there. */
  private volatile long sweptAfter;

  /**
   * Nothing is known yet.
   *
   * @param clientTag marks the nodes of this store: several may share one session
   * @param chroot what the client library adds to the paths of all requests but this one
   */
  public SessionNodes(
      StoreContext context,
      Sessions sessions,
      Layout layout,
      Claims claims,
      String clientTag,
      String chroot) {
    this.context = context;
    this.sessions = sessions;
    this.layout = layout;
    this.claims = claims;
    this.clientTag = clientTag;
    this.serverPath = chroot + layout.locks;
    this.sweeper = new Sweeper(context, layout, claims, this);
  }

  /** Whether one answer can tell them all. */
  boolean areFew() {
    long bytes = (long) claims.size() * (serverPath.length() + BYTES_PER_NODE);
    return bytes <= LONGEST_LISTING;
  }

  /** All of them, while they are few; a listing that is not older than this will do. */
  CompletableFuture<Listing> list(Session session, long maxAgeNanos) {
    long now = context.time().nanos();
    CompletableFuture<Listing> made = new CompletableFuture<>();
    synchronized (this) {
      CompletableFuture<Listing> known = last;
      boolean failed = known == null || known.isCompletedExceptionally();
      if (known != null
          && !failed
          && lastSession == session
          && now - lastSentNanos <= maxAgeNanos) {
        return known;
      }
      last = made;
      lastSession = session;
      lastSentNanos = now;
    }
    Set<String> found = new HashSet<>();
    gather(session, serverPath, found)
        .whenComplete(
            (told, failure) -> {
              if (failure == null) {
                made.complete(new Listing(session, now, told ? found : null));
              } else {
                made.completeExceptionally(sessions.meaning(failure));
              }
            });
    return made;
  }

  /**
   * Adds the names of those below a prefix, and deletes the orphans among them.
   *
   * @return false if the server can't tell (before 3.6)
   */
  CompletableFuture<Boolean> gather(Session session, String prefix, Set<String> found) {
    CompletableFuture<Boolean> answer = new CompletableFuture<>();
    AsyncCallback.EphemeralsCallback heard =
        (code, ignored, paths) -> {
          if (code == OK) {
            for (String path : paths) {
              found.add(path.substring(path.lastIndexOf('/') + 1));
              deleteIfOrphaned(session, path);
            }
            answer.complete(true);
          } else if (code == UNIMPLEMENTED) {
            answer.complete(false);
          } else {
            answer.completeExceptionally(session.failure("Listing the session's nodes", code));
          }
        };
    session.zk.getEphemerals(prefix, heard, null);
    return answer;
  }

  /**
   * A node is orphaned if no claim knows it: a claim is known before its node is asked for, and
   * until the node's deletion was answered, and answers come in order. Several stores may share a
   * session, so only what this one made is its to delete.
   */
  private void deleteIfOrphaned(Session session, String path) {
    QueueNode node = QueueNode.parse(path.substring(path.lastIndexOf('/') + 1));
    if (node != null && node.client().equals(clientTag) && !claims.know(node.tag())) {
      int chroot = serverPath.length() - layout.locks.length();
      CompletableFuture<Boolean> unused = new Requests(session).delete(path.substring(chroot));
    }
  }

  /**
   * Looks for orphans from time to time, and tells the holds that are gone without having asked.
   */
  public void check(Session session) {
    long added = claims.added();
    boolean isUnused = claims.isEmpty();
    if (isUnused && added == sweptAfter) {
      return; // Listed since the last of them has left.
    }
    if (!areFew()) {
      sweeper.begin(session);
      return;
    }
    try {
      list(session, 0)
          .thenAccept(
              listing -> {
                tellTheGone(listing);
                if (isUnused && listing.hasNoneOf(clientTag)) {
                  sweptAfter = added;
                }
              });
    } catch (StoreUnavailableException e) {
      // The next one will do.
    }
  }

  void tellTheGone(Listing listing) {
    for (Claim claim : claims.all()) {
      if (claim.isGrantedOn(listing.session()) && !listing.shows(claim)) {
        claim.gone();
      }
    }
  }

  public void close() {
    sweeper.close();
  }
}
