package io.fenceline.redis.redlock;

import static io.fenceline.redis.layout.Layout.bytes;

import io.fenceline.redis.layout.Layout;
import java.nio.charset.StandardCharsets;

/**
 * Where things are on a node of a Redlock: beside the keys of {@link Layout}, never among them.
 *
 * <p>There are no hash tags, since a node is never part of a Cluster, and the counters of all
 * buckets are in one hash, so that a node remembers all of them or none.
 */
final class RedlockLayout {
  static final byte[] STATE = bytes("fl1:r!");
  static final byte[] INDEX = bytes("fl1:r~");
  private static final String NAME = "fl1:r:";
  private static final String WAITING = "fl1:r@";

  private RedlockLayout() {}

  /** The keys of a name, as {@code redlock-name.lua} wants them. */
  static byte[][] keys(String name) {
    return new byte[][] {STATE, INDEX, name(name), bytes(WAITING + name)};
  }

  static byte[] name(String name) {
    return bytes(NAME + name);
  }

  static int bucket(String name) {
    return Layout.bucket(name.getBytes(StandardCharsets.UTF_8));
  }
}
