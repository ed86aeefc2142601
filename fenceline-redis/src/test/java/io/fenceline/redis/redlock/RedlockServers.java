package io.fenceline.redis.redlock;

import io.fenceline.testbed.server.RedisKind;
import io.fenceline.testbed.server.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** The nodes of a Redlock: independent servers. */
public final class RedlockServers implements AutoCloseable {
  private final List<RedisServer> all = new ArrayList<>();

  public static RedlockServers start(int count) {
    return start(count, RedisServer::start);
  }

  public static RedlockServers start(RedisKind kind, int count) {
    return start(count, () -> RedisServer.builder().kind(kind).start());
  }

  public static RedlockServers start(int count, Supplier<RedisServer> start) {
    RedlockServers servers = new RedlockServers();
    for (int i = 0; i < count; i++) {
      servers.all.add(start.get());
    }
    return servers;
  }

  public RedisServer get(int index) {
    return all.get(index);
  }

  public List<RedisServer> all() {
    return all;
  }

  /** With a node timeout that a busy machine keeps; a tenth of the lease is the limit anyway. */
  public String uri() {
    return uri(all.stream().map(RedisServer::address).toList());
  }

  public static String uri(List<String> addresses) {
    return addresses.stream().collect(Collectors.joining(",", "redlock://", "?nodeTimeout=1s"));
  }

  /**
   * Whether the node has been told that a claim of the name was granted: until then, what it has
   * may become nothing.
   */
  static boolean hasConfirmed(RedisServer node, String name) {
    return Long.valueOf(1)
        .equals(
            node.command(
                "EVAL",
                "local packed = redis.call('GET', KEYS[1]);"
                    + " local grants = packed and cmsgpack.unpack(packed)[3] or {};"
                    + " return grants[1] and grants[1][5] == 'c' and 1 or 0",
                "1",
                "fl1:r:" + name));
  }

  /** The node has nothing of a name any more, as if another claim had been there first. */
  static void free(RedisServer node, String name) {
    node.command("DEL", "fl1:r:" + name);
    node.command("ZREM", "fl1:r~", name);
  }

  @Override
  public void close() {
    all.forEach(RedisServer::close);
  }
}
