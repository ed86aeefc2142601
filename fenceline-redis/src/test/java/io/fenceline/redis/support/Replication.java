package io.fenceline.redis.support;

import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;

/** Cuts a replica off from its master, while both go on to serve everybody else. */
public final class Replication {
  private Replication() {}

  /** Returns when the replica says that its master is gone. */
  public static void cut(RedisServer master, RedisServer replica) {
    master.command("ACL", "SETUSER", "default", "-psync", "-sync", "-replconf");
    master.command("CLIENT", "KILL", "TYPE", "replica");
    Eventually.until(
        Clients.AMPLE, "no replication", () -> "down".equals(replica.info("master_link_status")));
  }
}
