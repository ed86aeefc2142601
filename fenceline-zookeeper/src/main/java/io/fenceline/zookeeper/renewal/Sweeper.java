package io.fenceline.zookeeper.renewal;

import io.fenceline.spi.StoreContext;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import io.fenceline.zookeeper.claim.Claim;
import io.fenceline.zookeeper.claim.Claims;
import io.fenceline.zookeeper.layout.Layout;
import io.fenceline.zookeeper.session.Session;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Goes through the nodes of a session that has many, folder by folder, with pauses.
 *
 * <p>Renewals do not wait for it: it finds nodes that nobody knows of, and tells those holds whose
 * node is gone and who do not renew.
 */
final class Sweeper {
  /*
   * An answer of more than a megabyte breaks the connection, so the listing is cut by folders. But
   * whatever is asked for, the server copies and searches all nodes of the session, on the thread
   * that does everyone's requests: 100,000 nodes take it 23 ms. So a listing in many parts is slow
   * work, and after each part the sweep waits until it has taken a tenth of the server's time.
   *
   * What would break it, and why it can't:
   *
   * - A node of a claim that is being asked for is taken for an orphan: claims are looked up when the
   *   part is answered, and a claim is known from before its node is there until it is known to be
   *   gone.
   * - A hold is told that it is gone, because its folder was listed before it was granted: only those
   *   count that were granted before the sweep began, and each folder is listed later than that.
   * - A sweep that never ends keeps the next ones away: each request is answered, if only by the loss
   *   of the connection; a failure ends the sweep, and the next check begins another one.
   * - An orphan of an old session: it ends with that session.
   */
  private static final int LONGEST_ANSWER = 500_000;
  private static final int BYTES_OF_NODE = 48;
  private static final int SHARE = 10;

  /**
   * One sweep.
   *
   * @param session whose nodes
   * @param beganNanos when it began
   * @param prefixes what is asked for, one after the other
   * @param found the names of the nodes up to now
   */
  private record Course(
      Session session, long beganNanos, List<String> prefixes, Set<String> found) {
    SessionNodes.Listing listing() {
      return new SessionNodes.Listing(session, beganNanos, found);
    }
  }

  private final StoreContext context;
  private final Layout layout;
  private final Claims claims;
  private final SessionNodes nodes;

  // Guarded by this.
  private @Nullable Session underWay;
  private Time.@Nullable Timer timer;
  private boolean closed;

  Sweeper(StoreContext context, Layout layout, Claims claims, SessionNodes nodes) {
    this.context = context;
    this.layout = layout;
    this.claims = claims;
    this.nodes = nodes;
  }

  /** Begins, unless one is under way. */
  void begin(Session session) {
    synchronized (this) {
      if (closed || underWay == session) {
        return;
      }
      underWay = session;
    }
    next(new Course(session, context.time().nanos(), prefixes(), new HashSet<>()), 0);
  }

  /** As few as there can be without an answer that is too long. */
  private List<String> prefixes() {
    int folder = layout.locks.length() + 1;
    int chroot = nodes.serverPath.length() - layout.locks.length();
    long[] bytes = new long[16];
    for (Claim claim : claims.all()) {
      String parent = claim.folder();
      bytes[Character.digit(parent.charAt(folder), 16)] +=
          chroot + utf8Bytes(parent) + BYTES_OF_NODE;
    }
    long all = 0;
    long most = 0;
    for (long some : bytes) {
      all += some;
      most = Math.max(most, some);
    }
    int digits = all <= LONGEST_ANSWER ? 0 : most <= LONGEST_ANSWER ? 1 : 2;
    List<String> prefixes = new ArrayList<>();
    for (int i = 0; i < 1 << (4 * digits); i++) {
      String first = digits == 0 ? "" : ("%0" + digits + "x").formatted(i);
      prefixes.add(nodes.serverPath + "/" + first);
    }
    return prefixes;
  }

  private static int utf8Bytes(String path) {
    int bytes = path.length();
    for (int i = 0; i < path.length(); i++) {
      if (path.charAt(i) >= 0x80) {
        bytes += 2;
      }
    }
    return bytes;
  }

  private void next(Course course, int index) {
    if (index == course.prefixes.size()) {
      end(course);
      nodes.tellTheGone(course.listing());
      return;
    }
    long sentNanos = context.time().nanos();
    nodes
        .gather(course.session, course.prefixes.get(index), course.found)
        .whenComplete(
            (told, failure) -> {
              if (failure != null || !told) {
                end(course);
              } else {
                long took = context.time().nanos() - sentNanos;
                pause(took * (SHARE - 1), () -> next(course, index + 1));
              }
            });
  }

  private synchronized void pause(long nanos, Runnable then) {
    if (!closed) {
      Time time = context.time();
      timer = time.schedule(nanos, () -> time.lane(Lane.UNDO).execute(then));
    }
  }

  private synchronized void end(Course course) {
    if (underWay == course.session) {
      underWay = null;
    }
  }

  synchronized void close() {
    closed = true;
    if (timer != null) {
      timer.cancel();
    }
  }
}
