package io.fenceline.bench.contender;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/**
 * What a lock in ZooKeeper can't do without: an ephemeral node and the list of its siblings, sent
 * together, and the deletion of the node, on one session.
 */
final class ZooKeeperFloor implements Contender {
  private static final byte[] DATA = new byte[80];
  private static final int OK = KeeperException.Code.OK.intValue();

  /** A node, and its number. */
  private record Node(String path, long czxid) {}

  private final CuratorFramework client;
  private final ZooKeeper zk;
  private final boolean lists;

  private ZooKeeperFloor(String address, boolean lists) throws Exception {
    this.client = CuratorLocks.connect(address);
    this.zk = client.getZookeeperClient().getZooKeeper();
    this.lists = lists;
  }

  static Contender withListing(String address) throws Exception {
    return new ZooKeeperFloor(address, true);
  }

  static Contender withoutListing(String address) throws Exception {
    return new ZooKeeperFloor(address, false);
  }

  @Override
  public Cycle on(String name) throws Exception {
    String parent = "/floor/" + name;
    client.create().orSetData().creatingParentsIfNeeded().forPath(parent);
    return section -> {
      Node node = lists ? createAndList(parent) : create(parent).get();
      section.run(node.czxid);
      delete(node.path).get();
    };
  }

  private Node createAndList(String parent) throws Exception {
    CompletableFuture<Node> created = create(parent);
    CompletableFuture<List<String>> listed = new CompletableFuture<>();
    AsyncCallback.ChildrenCallback callback =
        (code, path, context, children) -> complete(listed, code, children);
    zk.getChildren(parent, false, callback, null);
    Floors.check(listed.get().size() == 1); // Answered after the creation, which was sent before.
    return created.get();
  }

  private CompletableFuture<Node> create(String parent) {
    CompletableFuture<Node> answer = new CompletableFuture<>();
    AsyncCallback.Create2Callback callback =
        (code, path, context, name, stat) ->
            complete(answer, code, new Node(name, stat == null ? 0 : stat.getCzxid()));
    zk.create(
        parent + "/x-",
        DATA,
        ZooDefs.Ids.OPEN_ACL_UNSAFE,
        CreateMode.EPHEMERAL_SEQUENTIAL,
        callback,
        null);
    return answer;
  }

  private CompletableFuture<String> delete(String path) {
    CompletableFuture<String> answer = new CompletableFuture<>();
    AsyncCallback.VoidCallback callback = (code, gone, context) -> complete(answer, code, gone);
    zk.delete(path, -1, callback, null);
    return answer;
  }

  private static <T> void complete(CompletableFuture<T> answer, int code, T value) {
    if (code == OK) {
      answer.complete(value);
    } else {
      answer.completeExceptionally(KeeperException.create(KeeperException.Code.get(code)));
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
