package io.fenceline.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.cli.AclParser;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.auth.DigestAuthenticationProvider;

/** Folders where a login has the rights of docs/least-rights.md, and no more. */
final class LeastRights {
  static final String LOGIN = "app:s3cr3t-canary";
  private static final String ADMIN = "admin:s3cr3t-too";

  private static final Pattern CREATE = Pattern.compile("create (\\S+) \"(.*)\" (\\S+)");

  /** The nodes that an administrator makes, below the folder, and what the login may do there. */
  static final Map<String, Integer> NODES =
      Map.of(
          "/fenceline", ZooDefs.Perms.READ,
          "/fenceline/heartbeat", ZooDefs.Perms.WRITE,
          "/fenceline/locks", ZooDefs.Perms.READ | ZooDefs.Perms.CREATE);

  private LeastRights() {}

  static ZooKeeper admin() throws Exception {
    return connected(ADMIN);
  }

  static ZooKeeper connected(String login) throws Exception {
    CompletableFuture<Void> connected = new CompletableFuture<>();
    ZooKeeper client =
        new ZooKeeper(Servers.single().address(), 20_000, event -> connected.complete(null));
    Fleet.get(connected);
    client.addAuthInfo("digest", login.getBytes(StandardCharsets.UTF_8));
    return client;
  }

  /** All for the administrator, and these for the login. */
  static List<ACL> acl(int permissions) {
    // ZooKeeper's client asks the list for null, which List.of does not take.
    return new ArrayList<>(
        List.of(new ACL(permissions, digest(LOGIN)), new ACL(ZooDefs.Perms.ALL, digest(ADMIN))));
  }

  private static Id digest(String login) {
    try {
      return new Id("digest", DigestAuthenticationProvider.generateDigest(login));
    } catch (java.security.NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }

  /** Makes the nodes of a folder as an administrator does, by the commands of the page. */
  static void prepare(String folder) throws Exception {
    int made = 0;
    try (ZooKeeper admin = admin()) {
      admin.create(folder, new byte[0], acl(0), CreateMode.PERSISTENT);
      for (String line : Files.readAllLines(Path.of("../docs/least-rights.md"))) {
        Matcher command = CREATE.matcher(line);
        if (command.matches()) {
          String digest = DigestAuthenticationProvider.generateDigest(LOGIN);
          String acl = command.group(3).replace("app:HASH", digest);
          admin.create(
              folder + command.group(1),
              command.group(2).getBytes(StandardCharsets.UTF_8),
              AclParser.parse(acl),
              CreateMode.PERSISTENT);
          made++;
        }
      }
    }
    assertThat(made).as("nodes that docs/least-rights.md creates").isEqualTo(NODES.size());
  }

  static StoreFactory store(String servers, String folder, Duration session) {
    String uri =
        "zookeeper://%s@%s%s?session=%dms&tick=%dms"
            .formatted(LOGIN, servers, folder, session.toMillis(), Servers.TICK.toMillis());
    return new ZooKeeperProvider().at(StoreAddress.parse(uri));
  }
}
