package io.fenceline.zookeeper;

import io.fenceline.settings.Durations;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.StoreFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * Locks in ZooKeeper, for a client to be connected to.
 *
 * <pre>{@code
 * Fenceline fenceline =
 *     Fenceline.builder().store(ZooKeeperStore.from(curator).root("/apps/locks")).connect();
 * }</pre>
 *
 * <p>All locks on a {@link CuratorFramework} that you give live in its one session, beside whatever
 * else it is used for. The longest lease is a little shorter than the session's timeout; a crashed
 * holder's name opens when the session has timed out. The framework is not closed with the client.
 *
 * <p>Immutable: each method gives a changed copy.
 */
public final class ZooKeeperStore implements StoreFactory {
  /** ZooKeeper's default, and more than most ensembles have. */
  static final Duration USUAL_TICK = Duration.ofSeconds(2);

  private static final String USUAL_ROOT = "/fenceline";

  private final Function<StoreContext, CuratorFramework> client;
  private final boolean ours;
  private final String root;
  private final @Nullable ACLProvider acl;
  private final @Nullable Duration tick;

  private ZooKeeperStore(
      Function<StoreContext, CuratorFramework> client,
      boolean ours,
      String root,
      @Nullable ACLProvider acl,
      @Nullable Duration tick) {
    this.client = client;
    this.ours = ours;
    this.root = root;
    this.acl = acl;
    this.tick = tick;
  }

  /**
   * Locks at a URI: {@code zookeeper://[user:password@]host[:2181],host…[/folder]}, with the
   * parameters that {@link ZooKeeperProvider} names.
   *
   * @throws InvalidSettingException if it is not one
   */
  public static ZooKeeperStore at(String uri) {
    return ZooKeeperProvider.store(StoreAddress.parse(uri));
  }

  /** Locks on a client that is started, and stays its owner's. */
  public static ZooKeeperStore from(CuratorFramework client) {
    Objects.requireNonNull(client, "client");
    return new ZooKeeperStore(context -> client, false, USUAL_ROOT, null, null);
  }

  /** Locks on a client that is made for them, and is closed with them. */
  static ZooKeeperStore owning(
      Function<StoreContext, CuratorFramework> client, String folder, List<ACL> acl) {
    return new ZooKeeperStore(client, true, folder + USUAL_ROOT, new OneAcl(acl), null);
  }

  /** Which folder to use, below the framework's namespace; {@code /fenceline} by default. */
  public ZooKeeperStore root(String path) {
    try {
      PathUtils.validatePath(path);
    } catch (IllegalArgumentException e) {
      throw new InvalidSettingException("root", path, String.valueOf(e.getMessage()));
    }
    if (path.equals("/")) {
      throw new InvalidSettingException("root", path, "name a folder, such as " + USUAL_ROOT);
    }
    return new ZooKeeperStore(client, ours, path, acl, tick);
  }

  /** Which ACL nodes get; by default, what the framework gives to the nodes that it makes. */
  public ZooKeeperStore acl(ACLProvider provider) {
    return new ZooKeeperStore(
        client, ours, root, Objects.requireNonNull(provider, "provider"), tick);
  }

  /**
   * The {@code tickTime} of the servers, which they do not tell. Without it 2 seconds are assumed,
   * or half of the session's timeout where that is less; servers with a longer tick, or with a
   * {@code minSessionTimeout} below two ticks, must have it said.
   */
  public ZooKeeperStore tick(Duration tickTime) {
    return new ZooKeeperStore(client, ours, root, acl, Durations.checkPositive("tick", tickTime));
  }

  @Override
  public LockStore open(StoreContext context) {
    Connection connection = Connection.open(context, this);
    ZooKeeperLockStore store = new ZooKeeperLockStore(context, this, connection);
    try {
      store.start();
      return store;
    } catch (RuntimeException e) {
      store.close();
      throw e;
    }
  }

  CuratorFramework client(StoreContext context) {
    return client.apply(context);
  }

  boolean isOurs() {
    return ours;
  }

  String root() {
    return root;
  }

  /** Which ACL a node gets; null if that is for the framework to say. */
  @Nullable List<ACL> aclFor(String path) {
    if (acl == null) {
      return null;
    }
    List<ACL> given = acl.getAclForPath(path);
    // A copy, because ZooKeeper's client asks a list for null, which not every list takes.
    return new ArrayList<>(given == null || given.isEmpty() ? acl.getDefaultAcl() : given);
  }

  Duration tick(int timeoutMillis) {
    if (tick != null) {
      return tick;
    }
    Duration half = Duration.ofMillis(timeoutMillis / 2);
    return half.compareTo(USUAL_TICK) < 0 ? half : USUAL_TICK;
  }

  /** The same for every node. */
  private record OneAcl(List<ACL> acl) implements ACLProvider {
    @Override
    public List<ACL> getDefaultAcl() {
      return acl;
    }

    @Override
    public List<ACL> getAclForPath(String path) {
      return acl;
    }
  }
}
