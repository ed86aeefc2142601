package io.fenceline.zookeeper.renewal;

import io.fenceline.time.Moment;
import io.fenceline.zookeeper.claim.Claim;
import io.fenceline.zookeeper.claim.ClaimContext;
import io.fenceline.zookeeper.session.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;

/**
 * Asks whether the nodes of some grants are still there, many with one request.
 *
 * <p>What it costs goes with the number of those that are asked for, however many the session has.
 */
final class NodeChecks {
  /*
   * What would break it, and why it can't:
   *
   * - A hold is renewed whose node is gone: each answer is to a read that was sent for this renewal,
   *   none is kept for the next.
   * - A hold is renewed by a node that is not its own: ZooKeeper names the session that it belongs to
   *   and the transaction that made it, and both must be those of the grant.
   * - A hold is told that it is gone while it is there: only "no node" says so, or a node that is
   *   another one. A server that lags behind has seen all that this session has done. What can't be
   *   read for want of permission is there.
   * - A hold is renewed by a server that is cut off, which answers reads: this proves nothing of the
   *   session. Whoever asks looks at the heartbeats as well.
   * - Renewals that come too late because there are many: the parts of a call go two at a time, so
   *   that a distant server gets the next while it answers the last, and a claim that comes meanwhile
   *   waits for two parts and not for all. When one fails, so do those behind it, and whoever asked
   *   for them asks again.
   */
  private static final int OK = KeeperException.Code.OK.intValue();
  private static final int NO_NODE = KeeperException.Code.NONODE.intValue();
  private static final int NO_PERMISSION = KeeperException.Code.NOAUTH.intValue();
  private static final int UNIMPLEMENTED = KeeperException.Code.UNIMPLEMENTED.intValue();
  private static final int LARGEST_PART = 500;
  private static final int LONGEST_PART_BYTES = 300_000;
  private static final int BYTES_OF_STAT = 100;
  private static final int AT_ONCE = 2;

  /**
   * What was heard of one.
   *
   * @param sent when it was asked for
   * @param isThere whether the node is there, as far as the server can tell
   */
  record Answer(Moment sent, boolean isThere) {}

  /** Some that are asked for with one request. */
  private record Part(List<Claim.HeldNode> nodes, List<CompletableFuture<Answer>> answers) {
    Part() {
      this(new ArrayList<>(), new ArrayList<>());
    }

    void fail(RuntimeException cause) {
      answers.forEach(answer -> answer.completeExceptionally(cause));
    }
  }

  private final ClaimContext context;
  private final Session session;
  private final int dataBytes;

  // Guarded by this.
  private final List<Part> parts = new ArrayList<>();
  private int sent;
  private int lastBytes;

  /** Nobody is asked for yet. */
  NodeChecks(ClaimContext context, Session session) {
    this.context = context;
    this.session = session;
    this.dataBytes = context.nodes().dataBytes();
  }

  /** One more to ask for; called before {@link #begin}. */
  CompletableFuture<Answer> add(Claim.HeldNode node) {
    // A character of a path takes up to three bytes.
    int bytes = 3 * node.path().length() + dataBytes + BYTES_OF_STAT;
    synchronized (this) {
      Part part = parts.isEmpty() ? null : parts.get(parts.size() - 1);
      if (part == null
          || part.nodes.size() == LARGEST_PART
          || lastBytes + bytes > LONGEST_PART_BYTES) {
        part = new Part();
        parts.add(part);
        lastBytes = 0;
      }
      lastBytes += bytes;
      CompletableFuture<Answer> answer = new CompletableFuture<>();
      part.nodes.add(node);
      part.answers.add(answer);
      return answer;
    }
  }

  /** Sends the first requests; the others follow as these are answered. */
  void begin() {
    for (int i = 0; i < AT_ONCE; i++) {
      sendNext();
    }
  }

  private void sendNext() {
    Part part;
    synchronized (this) {
      if (sent == parts.size()) {
        return;
      }
      part = parts.get(sent++);
    }
    Moment now = context.store().time().now();
    AsyncCallback.MultiCallback heard =
        (code, path, ignored, results) -> {
          if (results != null) {
            sendNext();
            tell(part, now, results);
          } else if (code == UNIMPLEMENTED) {
            sendNext();
            part.answers.forEach(answer -> answer.complete(new Answer(now, true)));
          } else {
            giveUp(part, session.failure("Reading held nodes", code));
          }
        };
    session.zk.multi(
        part.nodes.stream().map(node -> Op.getData(node.path())).toList(), heard, null);
  }

  private void tell(Part part, Moment asked, List<OpResult> results) {
    for (int i = 0; i < part.nodes.size(); i++) {
      CompletableFuture<Answer> answer = part.answers.get(i);
      Claim.HeldNode node = part.nodes.get(i);
      if (results.get(i) instanceof OpResult.GetDataResult found) {
        boolean isOwn =
            found.getStat().getCzxid() == node.number()
                && found.getStat().getEphemeralOwner() == session.id();
        answer.complete(new Answer(asked, isOwn));
      } else {
        int code = results.get(i) instanceof OpResult.ErrorResult error ? error.getErr() : OK;
        if (code == NO_NODE || code == NO_PERMISSION) {
          answer.complete(new Answer(asked, code == NO_PERMISSION));
        } else {
          answer.completeExceptionally(session.failure("Reading " + node.path(), code));
        }
      }
    }
  }

  private void giveUp(Part part, RuntimeException cause) {
    List<Part> unsent;
    synchronized (this) {
      unsent = List.copyOf(parts.subList(sent, parts.size()));
      sent = parts.size();
    }
    part.fail(cause);
    unsent.forEach(other -> other.fail(cause));
  }
}
