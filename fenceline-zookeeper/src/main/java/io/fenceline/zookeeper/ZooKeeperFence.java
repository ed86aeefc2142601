package io.fenceline.zookeeper;

import io.fenceline.FencingToken;
import io.fenceline.Hold;
import io.fenceline.LockLostException;
import io.fenceline.StaleTokenException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.event.LossReason;
import io.fenceline.fence.Fence;
import io.fenceline.fence.FenceListener;
import io.fenceline.fence.FenceMarks;
import io.fenceline.fence.FenceNotices;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.zookeeper.layout.Layout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.curator.CuratorZookeeperClient;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Refuses writers that were overtaken, in the step that writes to ZooKeeper.
 *
 * <pre>{@code
 * ZooKeeperFence fence = ZooKeeperFence.over(curator);
 * fence.setData("/shop/prices", bytes, hold.fencingToken());
 * }</pre>
 *
 * <p>Beside the node {@code /shop/prices}, the persistent node {@code /shop/prices.fence} has its
 * marks. They are read and compared; then one {@code multi} advances them, if nobody has done so
 * since, and writes. Whoever comes second reads again. So a write costs a read and a write, and a
 * busy resource some more.
 *
 * <p>That the lock's own node still exists is not enough, since a local hand-off keeps it; {@link
 * #whileHeld} asks for that in addition. The framework is yours; no connection of Fenceline is
 * needed. It keeps one node of 39 bytes for each resource, also after {@link #delete}: delete that
 * node when no writer of the resource can be left. Immutable: each setting gives a changed copy.
 * Thread-safe.
 */
public final class ZooKeeperFence {
  /* Each failure of the multi means that another writer got through, so this is never used up. */
  private static final int MOST_ATTEMPTS = 1_000;

  private static final int GRANT_BITS = 8;

  private final CuratorFramework client;
  private final FenceNotices notices;
  private final @Nullable Lock lock;

  /** A lock whose node has to be there, too. */
  private record Lock(Hold hold, String path) {}

  private ZooKeeperFence(CuratorFramework client, FenceNotices notices, @Nullable Lock lock) {
    this.client = client;
    this.notices = notices;
    this.lock = lock;
  }

  /** Returns the fence beside nodes of the framework's namespace. */
  public static ZooKeeperFence over(CuratorFramework client) {
    return new ZooKeeperFence(
        Objects.requireNonNull(client, "client"), FenceNotices.of("zookeeper"), null);
  }

  /** Tells one more listener what is accepted and refused. */
  public ZooKeeperFence listener(FenceListener listener) {
    return new ZooKeeperFence(client, notices.with(listener), lock);
  }

  /** As {@link #whileHeld(Hold, String, long)}, for a client with default settings. */
  public ZooKeeperFence whileHeld(Hold hold) {
    return whileHeld(hold, "/fenceline", 0);
  }

  /**
   * Also asks, in the same step, that the node of this hold is still there; otherwise writes fail
   * with {@link LockLostException}. It finds the node by two reads.
   *
   * @param root of the locks, as this fence's framework sees it
   * @param tokenBase what the lock's client adds to its tokens
   */
  public ZooKeeperFence whileHeld(Hold hold, String root, long tokenBase) {
    String folder = new Layout(root).of(hold.name());
    long czxid = (hold.token() >> GRANT_BITS) - tokenBase;
    try {
      for (String child : client.getChildren().forPath(folder)) {
        Stat stat = client.checkExists().forPath(folder + "/" + child);
        if (stat != null && stat.getCzxid() == czxid) {
          return new ZooKeeperFence(client, notices, new Lock(hold, folder + "/" + child));
        }
      }
    } catch (KeeperException.NoNodeException e) {
      throw lost(hold);
    } catch (Exception e) {
      throw failure("Looking for the node of lock '" + hold.name() + "' failed", e);
    }
    throw lost(hold);
  }

  /**
   * Writes a node that exists.
   *
   * @throws StaleTokenException if a larger token has passed before; nothing was written
   * @throws StoreUnavailableException if ZooKeeper refuses or gives no answer, in which case it may
   *     have been written
   */
  public void setData(String path, byte[] data, FencingToken token) {
    commit(path, token, List.of(op(() -> client.transactionOp().setData().forPath(path, data))));
  }

  /**
   * Creates a persistent node.
   *
   * @throws StaleTokenException if a larger token has passed before; nothing was written
   * @throws StoreUnavailableException if ZooKeeper refuses or gives no answer, in which case it may
   *     have been written
   */
  public void create(String path, byte[] data, FencingToken token) {
    commit(path, token, List.of(op(() -> client.transactionOp().create().forPath(path, data))));
  }

  /**
   * Deletes a node; its marks stay, so that no stale writer creates it again.
   *
   * @throws StaleTokenException if a larger token has passed before; nothing was deleted
   * @throws StoreUnavailableException if ZooKeeper refuses or gives no answer, in which case it may
   *     have been deleted
   */
  public void delete(String path, FencingToken token) {
    commit(path, token, List.of(op(() -> client.transactionOp().delete().forPath(path))));
  }

  /**
   * Does operations of yours, all or none, if the token passes.
   *
   * @param resource a path; the marks are beside it, and its parent is created if need be
   * @throws StaleTokenException if a larger token has passed before; nothing was done
   * @throws StoreUnavailableException if ZooKeeper refuses or gives no answer, in which case they
   *     may have been done
   */
  public void commit(String resource, FencingToken token, List<CuratorOp> operations) {
    Objects.requireNonNull(token, "token");
    try {
      PathUtils.validatePath(resource);
    } catch (IllegalArgumentException e) {
      throw new InvalidSettingException("resource", resource, String.valueOf(e.getMessage()));
    }
    String marksPath = resource + ".fence";
    try {
      for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        if (isDone(resource, marksPath, token, operations)) {
          notices.accepted(resource, token);
          return;
        }
      }
    } catch (StaleTokenException | LockLostException e) {
      throw e;
    } catch (Exception e) {
      throw failure("A guarded write to '" + resource + "' failed", e);
    }
    throw failure("A guarded write to '" + resource + "' was overtaken too often", null);
  }

  /**
   * Returns the fence alone, where what is guarded is not in ZooKeeper. Check and write are then
   * two steps: see {@link Fence}.
   *
   * @param folder for the marks
   */
  public Fence asFence(String folder) {
    return (resource, token) -> commit(folder + "/" + Layout.escape(resource), token, List.of());
  }

  /** One attempt; false if someone else has advanced the marks since they were read. */
  private boolean isDone(
      String resource, String marksPath, FencingToken token, List<CuratorOp> operations)
      throws Exception {
    Stat stat = new Stat();
    FenceMarks before = null;
    try {
      byte[] data = client.getData().storingStatIn(stat).forPath(marksPath);
      before = FenceMarks.parse(new String(data, StandardCharsets.US_ASCII));
    } catch (KeeperException.NoNodeException e) {
      // The first write of this resource.
    }
    // An old mark that a slow server told is no harm: it may be too small, and then the version is
    // not the current one; a mark that refuses is true for ever.
    if (before != null && !before.admits(token)) {
      throw notices.refused(resource, token, before.markFor(token));
    }
    List<CuratorOp> all = new ArrayList<>();
    all.add(advance(marksPath, before, stat.getVersion(), token));
    if (lock != null) {
      all.add(client.transactionOp().check().forPath(lock.path));
    }
    all.addAll(operations);
    try {
      once(all);
      return true;
    } catch (KeeperException e) {
      return isOurs(e, marksPath, before == null);
    }
  }

  /**
   * Does the operations without the framework's retries: one whose answer was lost may have been
   * done, and a second time the same token would pass and the caller's operations be done again.
   */
  private void once(List<CuratorOp> operations) throws Exception {
    CuratorZookeeperClient connection = client.getZookeeperClient();
    if (!connection.blockUntilConnectedOrTimedOut()) {
      throw new KeeperException.ConnectionLossException(); // Nothing was sent.
    }
    List<Op> all = new ArrayList<>();
    for (CuratorOp operation : operations) {
      all.add(operation.get());
    }
    List<OpResult> unused = connection.getZooKeeper().multi(all);
  }

  private CuratorOp advance(
      String marksPath, @Nullable FenceMarks before, int version, FencingToken token)
      throws Exception {
    FenceMarks after = (before == null ? FenceMarks.NONE : before).after(token);
    if (after.equals(before)) {
      return client.transactionOp().check().withVersion(version).forPath(marksPath);
    }
    byte[] data = after.text().getBytes(StandardCharsets.US_ASCII);
    return before == null
        ? client.transactionOp().create().forPath(marksPath, data)
        : client.transactionOp().setData().withVersion(version).forPath(marksPath, data);
  }

  /** Always false: the failure was that of the marks, so it is worth another attempt. */
  private boolean isOurs(KeeperException e, String marksPath, boolean created) throws Exception {
    List<OpResult> results = e.getResults();
    if (results == null || results.isEmpty()) {
      throw e;
    }
    KeeperException.Code marks = code(results.get(0));
    if (marks == KeeperException.Code.NONODE && created) {
      client.checkExists().creatingParentsIfNeeded().forPath(marksPath);
      return false;
    }
    if (marks == KeeperException.Code.BADVERSION
        || marks == KeeperException.Code.NODEEXISTS
        || marks == KeeperException.Code.NONODE) {
      return false;
    }
    if (lock != null && code(results.get(1)) == KeeperException.Code.NONODE) {
      throw lost(lock.hold);
    }
    throw e;
  }

  private static KeeperException.Code code(OpResult result) {
    return result instanceof OpResult.ErrorResult error
        ? KeeperException.Code.get(error.getErr())
        : KeeperException.Code.OK;
  }

  private static LockLostException lost(Hold hold) {
    return new LockLostException(
        hold.name(),
        hold.token(),
        LossReason.GONE,
        hold.lease().minus(hold.remaining()),
        hold.lease(),
        "zookeeper");
  }

  /** Makes an operation; Curator declares more than can happen there. */
  private interface Maker {
    CuratorOp make() throws Exception;
  }

  private static CuratorOp op(Maker maker) {
    try {
      return maker.make();
    } catch (IllegalArgumentException e) {
      throw new InvalidSettingException("path", "", String.valueOf(e.getMessage()));
    } catch (Exception e) {
      throw failure("A guarded write can't be made", e);
    }
  }

  private static StoreUnavailableException failure(String what, @Nullable Exception e) {
    if (e instanceof InterruptedException) {
      Thread.currentThread().interrupt();
    }
    return new StoreUnavailableException(
        "zookeeper", e == null ? what : what + ": " + e.getMessage(), e);
  }
}
