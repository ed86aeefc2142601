package io.fenceline.zookeeper.claim;

import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.ClientInfo;
import io.fenceline.zookeeper.layout.Layout;
import io.fenceline.zookeeper.layout.NodeData;
import io.fenceline.zookeeper.layout.QueueNode;
import io.fenceline.zookeeper.session.Session;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;

/** Creates the nodes of claims, and the folders above them. */
public final class NodeFactory {
  private static final byte[] NOTHING = {};
  private static final int OK = KeeperException.Code.OK.intValue();
  private static final int NODE_EXISTS = KeeperException.Code.NODEEXISTS.intValue();
  private static final AsyncCallback.StringCallback IGNORED = (code, path, context, name) -> {};

  /** The data of nodes, with its bytes; the same for most claims of a client. */
  private static final class NodeBytes {
    final NodeData data;
    final byte[] bytes;

    NodeBytes(NodeData data) {
      this.data = data;
      this.bytes = data.bytes();
    }
  }

  final Layout layout;

  /** Marks the nodes of this store: several may share one session. */
  private final String clientTag;

  private final ClientInfo client;
  private final List<ACL> acl;
  private final Set<String> shards = ConcurrentHashMap.newKeySet();
  private volatile NodeBytes nodeBytes;

  public NodeFactory(
      Layout layout, List<ACL> acl, ClientInfo client, String clientTag, int timeoutMillis) {
    this.layout = layout;
    this.acl = acl;
    this.client = client;
    this.clientTag = clientTag;
    this.nodeBytes = new NodeBytes(new NodeData(client, timeoutMillis, 0));
  }

  /** Creates a claim's node; the server adds a sequence to its name. */
  void create(
      Session on,
      String folder,
      ClaimRequest request,
      String tag,
      AsyncCallback.Create2Callback heard) {
    String prefix = QueueNode.prefix(request.mode(), request.waits(), clientTag, tag);
    on.zk.create(
        folder + "/" + prefix,
        dataOf(on, request.lease()),
        acl,
        CreateMode.EPHEMERAL_SEQUENTIAL,
        heard,
        null);
  }

  private byte[] dataOf(Session session, Duration lease) {
    NodeBytes known = nodeBytes;
    int agreed = session.timeoutMillis();
    int timeoutMillis = agreed == 0 ? known.data.sessionMillis() : agreed;
    if (timeoutMillis != known.data.sessionMillis()
        || lease.toMillis() != known.data.leaseMillis()) {
      known = new NodeBytes(new NodeData(client, timeoutMillis, lease.toMillis()));
      nodeBytes = known;
    }
    return known.bytes;
  }

  /** Returns the size of a node's data, which varies by a few digits. */
  public int dataBytes() {
    return nodeBytes.bytes.length;
  }

  /** Returns the timeout of a session, as it was last agreed on. */
  public Duration sessionTimeout() {
    return Duration.ofMillis(nodeBytes.data.sessionMillis());
  }

  // Folders. ------------------------------------------------------------------------------------

  /** Creates the container of a name, and the folder above it unless it is known to be there. */
  void createContainer(ZooKeeper zk, String name) {
    String shard = layout.shardOf(name);
    if (!shards.contains(shard)) {
      zk.create(
          shard,
          NOTHING,
          acl,
          CreateMode.PERSISTENT,
          (code, asked, context, made) -> {
            if (code == OK || code == NODE_EXISTS) {
              shards.add(shard);
            }
          },
          null);
    }
    zk.create(layout.of(name), NOTHING, acl, CreateMode.CONTAINER, IGNORED, null);
  }

  /** Creates all folders again, as at the first connect, after someone has removed them. */
  void createFolders(ZooKeeper zk, String name) {
    shards.remove(layout.shardOf(name));
    String root = layout.root;
    for (int end = root.indexOf('/', 1); end > 0; end = root.indexOf('/', end + 1)) {
      createFolder(zk, root.substring(0, end), NOTHING);
    }
    createFolder(zk, root, Layout.formatBytes());
    createFolder(zk, layout.heartbeat, NOTHING);
    createFolder(zk, layout.locks, NOTHING);
  }

  private void createFolder(ZooKeeper zk, String path, byte[] data) {
    zk.create(path, data, acl, CreateMode.PERSISTENT, IGNORED, null);
  }
}
