package io.fenceline.zookeeper;

import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Mode;
import io.fenceline.time.Moment;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;

/**
 * What a claim asks of the server: its node, and the line that it is in. Answers go to the claim,
 * with the attempt that they belong to.
 */
final class Enquiry {
  private static final byte[] NOTHING = {};
  private static final int OK = KeeperException.Code.OK.intValue();
  private static final int NO_NODE = KeeperException.Code.NONODE.intValue();
  private static final int COLD_TRIES = 5;
  private static final int POLL_SHARE = 4;
  private static final AsyncCallback.StringCallback IGNORED = (code, path, context, name) -> {};

  private final Claim claim;
  private final OwnNode node;
  private final ClaimRequest request;
  private final ZooKeeperLockStore store;

  Enquiry(Claim claim, OwnNode node, ClaimRequest request, ZooKeeperLockStore store) {
    this.claim = claim;
    this.node = node;
    this.request = request;
    this.store = store;
  }

  /**
   * Creates the node and lists the line behind it, in one round trip; without a list if nobody else
   * seems to use the name.
   *
   * @param tries how often it was tried in vain, because the container is not there or was removed
   *     in between; it is then made along with the node
   */
  void create(int mine, Session on, int tries) {
    ZooKeeper zk = on.zk;
    if (tries > 1) {
      store.createFolders(zk, request.name()); // Someone has removed what is above the container.
    }
    if (tries > 0) {
      store.createShard(zk, request.name());
      zk.create(node.parent, NOTHING, store.acl, CreateMode.CONTAINER, IGNORED, null);
    }
    boolean isExclusive = request.mode() instanceof Mode.Exclusive;
    Trail.Step step = isExclusive ? on.trails.step(node.parent) : null;
    Moment sent = store.context.time().now();
    AsyncCallback.Create2Callback created =
        (code, asked, context, name, stat) -> {
          if (code == OK) {
            store.heartbeat.answered(on, sent);
            claim.created(mine, name, stat.getCzxid(), step);
            if (step != null) {
              made(mine, on, name, step);
            }
            return;
          }
          if (step != null) {
            step.trail.failed();
          }
          if (code == NO_NODE && tries < COLD_TRIES) {
            claim.createAgain(mine, tries + 1);
          } else {
            claim.fail(mine, on.failure("Claiming lock '" + request.name() + "'", code));
          }
        };
    zk.create(
        node.prefix(),
        store.nodeData(on, request.lease()),
        store.acl,
        CreateMode.EPHEMERAL_SEQUENTIAL,
        created,
        null);
    if (step == null || !step.isGuess) {
      list(mine, on);
    }
  }

  /** The node is there; where no list was sent along, it is alone, or lists the line now. */
  private void made(int mine, Session on, String name, Trail.Step step) {
    boolean isAlone = on.trails.made(step, Place.sequenceOf(name));
    if (step.isGuess && isAlone) {
      claim.alone(mine);
    } else if (step.isGuess) {
      list(mine, on);
    }
  }

  /** Lists the line. */
  void list(int mine, Session on) {
    store.lines.list(on, node.parent, claim, mine);
  }

  /**
   * As {@link #list}, to see whether an event was missed: a list that another asked for will do.
   */
  void poll(int mine, Session on) {
    store.lines.poll(on, node.parent, claim, mine, request.lease().toNanos() / POLL_SHARE);
  }

  private void order(int mine, Session on, List<Place> places, int connection) {
    CompletableFuture<Line> unused =
        store
            .line(on, node.parent, places)
            .whenComplete(
                (line, failure) -> {
                  if (line != null) {
                    claim.inLine(mine, on, line, connection);
                  } else {
                    claim.fail(mine, store.meaning(failure));
                  }
                });
  }

  /** Finds out whether there is a node, and goes on from there. */
  void recover(int mine, Session on) {
    int connection = on.connection();
    node.find(on)
        .whenComplete(
            (found, failure) -> {
              if (failure != null) {
                claim.fail(mine, store.meaning(failure));
              } else if (found.path() == null || found.stat() == null) {
                claim.createAgain(mine, 0);
              } else {
                claim.created(mine, found.path(), found.stat().getCzxid(), null);
                order(mine, on, found.line(), connection);
              }
            });
  }
}
