package io.fenceline.zookeeper;

import io.fenceline.settings.Durations;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.StoreFactory;
import io.fenceline.zookeeper.claim.ClaimTuning;
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
 * Settings of a ZooKeeper store, for {@code FencelineBuilder.store}.
 *
 * <pre>{@code
 * Fenceline fenceline =
 *     Fenceline.builder().store(ZooKeeperStores.from(curator).root("/apps/locks")).connect();
 * }</pre>
 *
 * <p>All locks on a {@link CuratorFramework} that you give live in its one session, beside whatever
 * else it is used for. The longest lease is a little shorter than the session's timeout; a crashed
 * holder's name opens when the session has timed out. The framework is not closed with the client.
 *
 * <p>Immutable: each method returns a changed copy.
 */
public final class ZooKeeperStores implements StoreFactory {
  /** ZooKeeper's default, and more than most ensembles have. */
  static final Duration USUAL_TICK = Duration.ofSeconds(2);

  private static final String USUAL_ROOT = "/fenceline";

  private final Function<StoreContext, CuratorFramework> client;
  private final boolean ours;
  private final String root;
  private final @Nullable ACLProvider acl;
  private final @Nullable Duration tick;
  private final ClaimTuning tuning;

  private ZooKeeperStores(
      Function<StoreContext, CuratorFramework> client,
      boolean ours,
      String root,
      @Nullable ACLProvider acl,
      @Nullable Duration tick,
      ClaimTuning tuning) {
    this.client = client;
    this.ours = ours;
    this.root = root;
    this.acl = acl;
    this.tick = tick;
    this.tuning = tuning;
  }

  /**
   * Returns the settings of a store at a URI: {@code
   * zookeeper://[user:password@]host[:2181],host…[/folder]}, with the parameters that {@link
   * ZooKeeperProvider} names.
   *
   * @throws InvalidSettingException if it is not such a URI
   */
  public static ZooKeeperStores at(String uri) {
    return ZooKeeperProvider.store(StoreAddress.parse(uri));
  }

  /**
   * Returns the settings of a store on a client that is started, and that the store does not close.
   */
  public static ZooKeeperStores from(CuratorFramework client) {
    Objects.requireNonNull(client, "client");
    return new ZooKeeperStores(context -> client, false, USUAL_ROOT, null, null, ClaimTuning.USUAL);
  }

  /** Returns the settings of a store on a client of its own, which it closes. */
  static ZooKeeperStores owning(
      Function<StoreContext, CuratorFramework> client, String folder, List<ACL> acl) {
    return new ZooKeeperStores(
        client, true, folder + USUAL_ROOT, new OneAcl(acl), null, ClaimTuning.USUAL);
  }

  /** Sets the folder to use, below the framework's namespace; {@code /fenceline} by default. */
  public ZooKeeperStores root(String path) {
    try {
      PathUtils.validatePath(path);
    } catch (IllegalArgumentException e) {
      throw new InvalidSettingException("root", path, String.valueOf(e.getMessage()));
    }
    if (path.equals("/")) {
      throw new InvalidSettingException("root", path, "name a folder, such as " + USUAL_ROOT);
    }
    return new ZooKeeperStores(client, ours, path, acl, tick, tuning);
  }

  /** Sets the ACL of nodes; by default, what the framework gives to the nodes that it makes. */
  public ZooKeeperStores acl(ACLProvider provider) {
    return new ZooKeeperStores(
        client, ours, root, Objects.requireNonNull(provider, "provider"), tick, tuning);
  }

  /**
   * Sets the {@code tickTime} of the servers, which they do not tell. By default it is taken to be
   * 2 seconds, or half of the session's timeout where that is less; set it for servers with a
   * longer tick, or with a {@code minSessionTimeout} below two ticks.
   */
  public ZooKeeperStores tick(Duration tickTime) {
    return new ZooKeeperStores(
        client, ours, root, acl, Durations.checkPositive("tick", tickTime), tuning);
  }

  /** Returns a copy with other shortcuts, for tests. */
  ZooKeeperStores tuned(ClaimTuning other) {
    return new ZooKeeperStores(client, ours, root, acl, tick, other);
  }

  ClaimTuning tuning() {
    return tuning;
  }

  @Override
  public LockStore open(StoreContext context) {
    Connection connection = Connection.open(context, this);
    ZooKeeperStore store = new ZooKeeperStore(context, this, connection);
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
