package io.fenceline.bench.contender;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/**
 * Taking turns in ZooKeeper without a lock: a ring of processes, each with a node that it watches.
 * Whoever is done deletes the node of the next, which enters on that event; the node for its next
 * turn is made while it is inside.
 */
final class ZooKeeperRing implements Contender {
  private static final int OK = KeeperException.Code.OK.intValue();

  private final Place place = Place.here();
  private final CuratorFramework client;
  private final ZooKeeper zk;

  ZooKeeperRing(String address) throws Exception {
    this.client = CuratorLocks.connect(address);
    this.zk = client.getZookeeperClient().getZooKeeper();
  }

  @Override
  public Cycle on(String name) throws Exception {
    String parent = "/ring/" + name + "/";
    client.create().orSetData().creatingParentsIfNeeded().forPath(parent + "all");
    Turn[] turn = {new Turn(parent + place.index())};
    turn[0].made.get();
    boolean[] first = {place.index() == 0};
    return section -> {
      if (first[0]) {
        for (int i = 0; i < place.count(); i++) {
          while (zk.exists(parent + i, false) == null) {
            Thread.sleep(1);
          }
        }
      } else {
        try {
          turn[0].come.get(Floors.LONGEST_WAIT_MILLIS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
          return;
        }
        turn[0] = new Turn(parent + place.index());
      }
      first[0] = false;
      section.run(0);
      CompletableFuture<Integer> gone = new CompletableFuture<>();
      zk.delete(parent + place.next(), -1, (code, path, any) -> gone.complete(code), null);
      Floors.check(gone.get() == OK);
    };
  }

  /** A node that is being made, and watched until it is deleted. */
  private final class Turn {
    final CompletableFuture<Integer> made = new CompletableFuture<>();
    final CompletableFuture<String> come = new CompletableFuture<>();

    Turn(String path) {
      zk.create(
          path,
          new byte[0],
          ZooDefs.Ids.OPEN_ACL_UNSAFE,
          CreateMode.EPHEMERAL,
          (code, made, any, name) -> this.made.complete(code),
          null);
      zk.exists(
          path,
          event -> {
            if (event.getType() == Watcher.Event.EventType.NodeDeleted) {
              come.complete(path);
            }
          },
          (code, seen, any, stat) -> {
            if (code != OK) {
              come.complete(path);
            }
          },
          null);
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
