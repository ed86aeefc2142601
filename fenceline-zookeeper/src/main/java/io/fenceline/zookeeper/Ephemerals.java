package io.fenceline.zookeeper;

import io.fenceline.StoreUnavailableException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/**
 * The nodes that ZooKeeper has of our session: those that we hold must be among them, and those
 * that are neither held nor being asked for are deleted.
 *
 * <p>One listing answers for all holds. It is cut into folders when it would get long, because an
 * answer of more than a megabyte breaks the connection.
 */
final class Ephemerals {
  private static final int OK = KeeperException.Code.OK.intValue();
  private static final int UNIMPLEMENTED = KeeperException.Code.UNIMPLEMENTED.intValue();
  private static final int BYTES_PER_NODE = 200;
  private static final int LONGEST_ANSWER = 300_000;

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
      String node = claim.nodeGrantedBefore(sentNanos);
      return nodes == null || node == null || nodes.contains(node);
    }
  }

  private final ZooKeeperStore store;
  private final String serverPath;

  // Guarded by this.
  private @Nullable CompletableFuture<Listing> last;
  private @Nullable Session lastSession;
  private long lastSentNanos;

  /**
   * Nothing is known yet.
   *
   * @param serverPath the folder of all locks as the server knows it, chroot included: the client
   *     library adds it to all requests but this one
   */
  Ephemerals(ZooKeeperStore store, String serverPath) {
    this.store = store;
    this.serverPath = serverPath;
  }

  /** A listing that is not older than this; the last one if it will do. */
  CompletableFuture<Listing> list(Session session, long maxAgeNanos) {
    long now = store.context.time().nanos();
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
    ask(session, prefixes(), 0, new HashSet<>(), made, now);
    return made;
  }

  private List<String> prefixes() {
    long bytes = (long) store.claims.size() * (serverPath.length() + BYTES_PER_NODE);
    if (bytes <= LONGEST_ANSWER) {
      return List.of(serverPath);
    }
    boolean many = bytes > 16L * LONGEST_ANSWER;
    List<String> prefixes = new ArrayList<>();
    for (int i = 0; i < (many ? 256 : 16); i++) {
      String digits = many ? "%02x".formatted(i) : "%x".formatted(i);
      prefixes.add(serverPath + "/" + digits);
    }
    return prefixes;
  }

  private void ask(
      Session session,
      List<String> prefixes,
      int index,
      Set<String> found,
      CompletableFuture<Listing> made,
      long sentNanos) {
    if (index == prefixes.size()) {
      made.complete(new Listing(session, sentNanos, found));
      return;
    }
    AsyncCallback.EphemeralsCallback heard =
        (code, context, paths) -> {
          if (code == OK) {
            for (String path : paths) {
              found.add(path.substring(path.lastIndexOf('/') + 1));
              deleteIfOrphaned(session, path);
            }
            ask(session, prefixes, index + 1, found, made, sentNanos);
          } else if (code == UNIMPLEMENTED) {
            made.complete(new Listing(session, sentNanos, null));
          } else {
            made.completeExceptionally(session.failure("Listing the session's nodes", code));
          }
        };
    session.zk.getEphemerals(prefixes.get(index), heard, null);
  }

  /**
   * A node is orphaned if no claim knows it: a claim is known before its node is asked for, and
   * until the node's deletion was answered, and answers come in order. Several stores may share a
   * session, so only what this one made is its to delete.
   */
  private void deleteIfOrphaned(Session session, String path) {
    Place place = Place.parse(path.substring(path.lastIndexOf('/') + 1));
    if (place != null
        && place.client().equals(store.clientTag)
        && store.claims.find(place.tag()) == null) {
      int chroot = serverPath.length() - store.paths.locks.length();
      CompletableFuture<Boolean> unused = new Calls(session).delete(path.substring(chroot));
    }
  }

  /**
   * As {@link #list}, from time to time and for no hold in particular: tells those that are gone.
   */
  void check(Session session) {
    if (store.claims.isEmpty()) {
      return;
    }
    try {
      list(session, 0).thenAccept(this::tellTheGone);
    } catch (StoreUnavailableException e) {
      // The next one will do.
    }
  }

  private void tellTheGone(Listing listing) {
    for (Claim claim : store.claims.all()) {
      if (claim.isGrantedOn(listing.session()) && !listing.shows(claim)) {
        claim.gone();
      }
    }
  }
}
