package io.fenceline.zookeeper;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException;

/**
 * Lists lines for claims: a claim that is alone at once, and many claims of one name together.
 *
 * <p>A list is as long as its line. If each of ten thousand waiters listed it for itself, a hundred
 * million nodes would be sent; so of each name at most one list is under way, and those who come
 * meanwhile share the next one. Lists then go with round trips, not with claims.
 */
final class Lines {
  /*
   * What would break it, and why it can't:
   *
   * - A list that was made before the asker's node, or before the leaving that it was told of: it
   *   joins only lists that are sent after it has asked, and a session's requests are done in order.
   * - Two holders by a list that is old: whoever joins the line joins its end, and the others only
   *   leave. Who is not in the way in a list that has our node will never be; who is may be gone,
   *   which costs a wait until the watch of that node finds it gone.
   * - A poll that takes an older list for the removal of its own node: polls come a lease after the
   *   node was last seen in line, and take a list of the last quarter of that lease and of the
   *   connection of now: had the node been removed since, its watch would have told.
   * - An asker that is never answered: ZooKeeper's client answers each request, if only with the loss
   *   of the connection, and each answer sends the next list. And claims that are not answered in time
   *   fail, and then look for their nodes by themselves.
   * - Askers of an old session behind a list of a new one: they are kept apart by session.
   */
  private static final int OK = KeeperException.Code.OK.intValue();

  /** Shorter ones are listed again rather than kept. */
  private static final int WORTH_KEEPING = 100;

  private record Key(Session session, String parent) {}

  /** One attempt of a claim. */
  private record Asker(Claim claim, int attempt) {}

  /** A line, and when and on which connection it was asked for. */
  private record Known(Line line, Sent sent) {}

  /** The sending of a request: when, and on which connection, or an earlier one. */
  private record Sent(long nanos, int connection) {}

  private final ZooKeeperLockStore store;

  // Guarded by this.
  private final Map<Key, List<Asker>> underWay = new HashMap<>();
  private final Map<Key, Known> known = new HashMap<>();

  Lines(ZooKeeperLockStore store) {
    this.store = store;
  }

  /** Tells a claim its line, as it is after everything that was sent before. */
  void list(Session on, String parent, Claim claim, int attempt) {
    Key key = new Key(on, parent);
    Asker asker = new Asker(claim, attempt);
    synchronized (this) {
      List<Asker> next = underWay.get(key);
      if (next != null) {
        next.add(asker);
        return;
      }
      underWay.put(key, new ArrayList<>(0));
    }
    send(key, List.of(asker));
  }

  /** As {@link #list}; one that is not older than this will do. */
  void poll(Session on, String parent, Claim claim, int attempt, long maxAgeNanos) {
    Known last;
    synchronized (this) {
      last = known.get(new Key(on, parent));
    }
    if (last != null
        && last.sent.connection == on.connection()
        && store.context.time().nanos() - last.sent.nanos <= maxAgeNanos) {
      claim.inLine(attempt, on, last.line, last.sent.connection);
    } else {
      list(on, parent, claim, attempt);
    }
  }

  private void send(Key key, List<Asker> askers) {
    Sent sent = new Sent(store.context.time().nanos(), key.session.connection());
    AsyncCallback.ChildrenCallback listed =
        (code, asked, context, children) -> {
          sendNext(key);
          if (code == OK) {
            order(key, sent, askers, Line.parse(children));
          } else {
            for (Asker asker : askers) {
              String what = "Listing lock '" + asker.claim.request.name() + "'";
              asker.claim.fail(asker.attempt, key.session.failure(what, code));
            }
          }
        };
    key.session.zk.getChildren(key.parent, false, listed, null);
  }

  private void sendNext(Key key) {
    List<Asker> next;
    synchronized (this) {
      next = underWay.remove(key);
      if (next == null || next.isEmpty()) {
        return;
      }
      underWay.put(key, new ArrayList<>(0));
    }
    send(key, next);
  }

  private void order(Key key, Sent sent, List<Asker> askers, List<Place> places) {
    if (Line.areSequencesSound(places)) {
      tell(key, sent, askers, Line.bySequence(places));
      return;
    }
    CompletableFuture<Line> unused =
        store
            .ordered(key.session, key.parent, places)
            .whenComplete(
                (line, failure) -> {
                  if (line != null) {
                    tell(key, sent, askers, line);
                  } else {
                    RuntimeException cause = store.meaning(failure);
                    askers.forEach(asker -> asker.claim.fail(asker.attempt, cause));
                  }
                });
  }

  private void tell(Key key, Sent sent, List<Asker> askers, Line line) {
    synchronized (this) {
      if (line.places().size() < WORTH_KEEPING) {
        known.remove(key);
      } else {
        known.put(key, new Known(line, sent));
      }
    }
    for (Asker asker : askers) {
      asker.claim.inLine(asker.attempt, key.session, line, sent.connection);
    }
  }

  /** Forgets lists that were asked for before then. */
  synchronized void forgetBefore(long nanos) {
    known.values().removeIf(last -> last.sent.nanos - nanos < 0);
  }
}
