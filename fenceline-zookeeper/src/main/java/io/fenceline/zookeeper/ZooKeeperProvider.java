package io.fenceline.zookeeper;

import io.fenceline.settings.Durations;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.StoreFactory;
import io.fenceline.spi.StoreKind;
import io.fenceline.spi.StoreProvider;
import io.fenceline.spi.TlsSwitch;
import io.fenceline.zookeeper.session.Heartbeat;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.data.ACL;

/**
 * Finds ZooKeepers by {@code zookeeper://user:password@host:port,host:port/folder}.
 *
 * <p>Parameters: {@code session} (timeout to ask for, 40s), {@code tick} (the servers' tickTime,
 * 2s), {@code acl} ({@code open} or {@code creator}; {@code creator} where there is a user), and
 * for TLS {@code tls=true} or any of {@code trustStore}, {@code trustStorePassword}, {@code
 * keyStore}, {@code keyStorePassword}.
 */
public final class ZooKeeperProvider implements StoreProvider {
  private static final int DEFAULT_PORT = 2181;

  /** What a server with the usual tick grants at most; keeps the default lease of 30 seconds. */
  private static final Duration SESSION = Duration.ofSeconds(40);

  private static final Set<String> PARAMETERS =
      Set.of(
          "session",
          "tick",
          "acl",
          "tls",
          "trustStore",
          "trustStorePassword",
          "keyStore",
          "keyStorePassword");

  private static final Set<String> OF_TLS =
      Set.of("trustStore", "trustStorePassword", "keyStore", "keyStorePassword");

  /** For {@link java.util.ServiceLoader}. */
  public ZooKeeperProvider() {}

  @Override
  public Set<String> schemes() {
    return Set.of("zookeeper");
  }

  @Override
  public List<StoreKind> kinds() {
    return List.of(
        new StoreKind(
            List.of("zookeeper://[user:password@]host[:2181][,host…][/folder][?session=40s]"),
            StoreKind.Consistency.CP,
            "one round trip and one write to a majority's disks, 1 to 5 ms",
            ZooKeeperStore.guarantees(
                Heartbeat.longestLease(SESSION, ZooKeeperStores.USUAL_TICK))));
  }

  @Override
  public StoreFactory at(StoreAddress address) {
    return store(address);
  }

  static ZooKeeperStores store(StoreAddress address) {
    Map<String, String> parameters = address.parameters();
    address.checkParameters(PARAMETERS);
    if (address.hosts().isEmpty()) {
      throw address.invalid("name the servers, such as zookeeper://a:2181,b:2181,c:2181");
    }
    if (address.user().isPresent() && address.password().orElse("").isEmpty()) {
      // A digest of an empty password is one that everybody can make.
      throw address.invalid("a user needs a password");
    }
    String folder = address.path().equals("/") ? "" : address.path();
    if (!folder.isEmpty()) {
      try {
        PathUtils.validatePath(folder);
      } catch (IllegalArgumentException e) {
        throw address.invalid("the folder is not a valid ZooKeeper path");
      }
    }
    Duration session = duration(address, "session", SESSION);
    List<ACL> acl = acl(address);
    ZKClientConfig config = config(address);
    ZooKeeperStores locks =
        ZooKeeperStores.owning(
            context -> client(address, context, session, acl, config), folder, acl);
    return parameters.containsKey("tick") ? locks.tick(duration(address, "tick", SESSION)) : locks;
  }

  private static Duration duration(StoreAddress address, String key, Duration usual) {
    String text = address.parameters().get(key);
    if (text == null) {
      return usual;
    }
    return Durations.checkPositive(key, Durations.parse(key, text));
  }

  private static List<ACL> acl(StoreAddress address) {
    String usual = address.user().isPresent() ? "creator" : "open";
    return switch (address.parameters().getOrDefault("acl", usual)) {
      case "open" -> ZooDefs.Ids.OPEN_ACL_UNSAFE;
      case "creator" -> ZooDefs.Ids.CREATOR_ALL_ACL;
      default -> throw address.invalid("acl must be open or creator");
    };
  }

  private static ZKClientConfig config(StoreAddress address) {
    ZKClientConfig config = new ZKClientConfig();
    Map<String, String> parameters = address.parameters();
    if (TlsSwitch.isOn(address, false, OF_TLS)) {
      config.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
      config.setProperty(
          ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET,
          "org.apache.zookeeper.ClientCnxnSocketNetty");
      setIfGiven(config, "zookeeper.ssl.trustStore.location", parameters.get("trustStore"));
      setIfGiven(config, "zookeeper.ssl.trustStore.password", parameters.get("trustStorePassword"));
      setIfGiven(config, "zookeeper.ssl.keyStore.location", parameters.get("keyStore"));
      setIfGiven(config, "zookeeper.ssl.keyStore.password", parameters.get("keyStorePassword"));
    }
    return config;
  }

  private static void setIfGiven(
      ZKClientConfig config, String key, @org.jspecify.annotations.Nullable String value) {
    if (value != null) {
      config.setProperty(key, value);
    }
  }

  private static CuratorFramework client(
      StoreAddress address,
      StoreContext context,
      Duration session,
      List<ACL> acl,
      ZKClientConfig config) {
    String servers =
        address.hosts().stream()
            .map(host -> host.port().isPresent() ? host.toString() : host + ":" + DEFAULT_PORT)
            .collect(Collectors.joining(","));
    CuratorFrameworkFactory.Builder builder =
        CuratorFrameworkFactory.builder()
            .connectString(servers)
            .sessionTimeoutMs((int) session.toMillis())
            .connectionTimeoutMs((int) context.connectTimeout().toMillis())
            .retryPolicy(
                new RetryNTimes(3, 100)) // Of the folder's making; claims are not repeated.
            .ensembleTracker(false)
            .zkClientConfig(config)
            .aclProvider(
                new ACLProvider() {
                  @Override
                  public List<ACL> getDefaultAcl() {
                    return acl;
                  }

                  @Override
                  public List<ACL> getAclForPath(String path) {
                    return acl;
                  }
                });
    if (address.user().isPresent()) {
      String login = address.user().get() + ":" + address.password().orElse("");
      builder.authorization("digest", login.getBytes(StandardCharsets.UTF_8));
    }
    return builder.build();
  }
}
