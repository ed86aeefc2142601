package io.fenceline.etcd;

import io.fenceline.testbed.server.EtcdServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A server where a user has the rights of docs/least-rights.md, and no more. */
final class LeastRights {
  static final String PASSWORD = "secret";

  private static final String LOCKS = "/fenceline/lock/";

  private LeastRights() {}

  /** Starts one; elections are quick there, so that it grants leases of one second. */
  static EtcdServer server() {
    EtcdServer etcd =
        EtcdServer.start("--heartbeat-interval=50", "--election-timeout=250", "--bcrypt-cost=4");
    etcd.etcdctl("user", "add", "root:root");
    etcd.etcdctl("user", "grant-role", "root", "root");
    recipe().forEach(command -> etcd.etcdctl(command.split(" ", -1)));
    etcd.etcdctl("auth", "enable");
    return etcd;
  }

  /** The commands of the page, without the name of the tool. */
  private static List<String> recipe() {
    try {
      List<String> commands =
          Files.readAllLines(Path.of("../docs/least-rights.md")).stream()
              .filter(line -> line.startsWith("etcdctl "))
              .map(line -> line.substring("etcdctl ".length()))
              .toList();
      if (commands.isEmpty()) {
        throw new AssertionError("docs/least-rights.md has no etcdctl commands");
      }
      return commands;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static String uri(String address) {
    return "etcd://app:" + PASSWORD + "@" + address;
  }

  /** Changes one of the two grants: read, write or readwrite. */
  static void grant(EtcdServer etcd, String right, String where) {
    if (where.equals(LOCKS)) {
      etcd.etcdctl(
          "--user", "root:root", "role", "grant-permission", "locks", "--prefix", right, where);
    } else {
      etcd.etcdctl("--user", "root:root", "role", "grant-permission", "locks", right, where);
    }
  }
}
