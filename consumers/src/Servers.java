import io.fenceline.testbed.server.EtcdServer;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testbed.server.PostgresServer;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testbed.server.ZooKeeperServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Starts a server of each kind on the loopback address, prints where they are, and stops them when
 * its input ends.
 */
public final class Servers {
  private Servers() {}

  public static void main(String[] args) throws Exception {
    Path sqlite = Files.createTempFile("consumer", ".db");
    try (RedisServer redis = RedisServer.start();
        EtcdServer etcd = EtcdServer.start();
        ZooKeeperServer zooKeeper = ZooKeeperServer.start(Duration.ofSeconds(2));
        PostgresServer postgres = PostgresServer.start();
        MariaDbServer mariaDb = MariaDbServer.start()) {
      System.out.println("memory=memory:");
      System.out.println("sqlite=sqlite:" + sqlite);
      System.out.println("postgresql=" + url(postgres.jdbcUrl(), postgres.user(), postgres.password()));
      System.out.println("mariadb=" + url(mariaDb.jdbcUrl(), mariaDb.user(), mariaDb.password()));
      System.out.println("redis=" + redis.uri());
      System.out.println("zookeeper=zookeeper://" + zooKeeper.address() + "?session=40s");
      System.out.println("etcd=etcd://" + etcd.address());
      System.out.println("ready");
      while (System.in.read() >= 0) {
        continue;
      }
    } finally {
      Files.deleteIfExists(sqlite);
    }
  }

  private static String url(String url, String user, String password) {
    return url.contains("user=")
        ? url
        : url + (url.contains("?") ? "&" : "?") + "user=" + user + "&password=" + password;
  }
}
