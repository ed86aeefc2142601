package io.fenceline.zookeeper.layout;

import io.fenceline.spi.ClientInfo;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The data of a claim's node: describes its client to people, and is never compared.
 *
 * <p>Whoever may read the node may read this. It has no secret.
 *
 * @param client who it is
 * @param sessionMillis how long the node outlives a client that is not heard of
 * @param leaseMillis how long its holder believes in it without renewal
 */
public record NodeData(ClientInfo client, int sessionMillis, long leaseMillis) {
  private static final NodeData UNKNOWN =
      new NodeData(new ClientInfo("unknown", "unknown", 0), 0, 0);

  /** Whether a client of ours has written it. */
  public boolean isReadable() {
    return !equals(UNKNOWN);
  }

  public byte[] bytes() {
    // The label comes last, because it may be anything.
    String text =
        "pid=%d\nsession=%d\nlease=%d\nhost=%s\nlabel=%s"
            .formatted(client.pid(), sessionMillis, leaseMillis, client.host(), client.label());
    return text.getBytes(StandardCharsets.UTF_8);
  }

  public static NodeData parse(byte @Nullable [] bytes) {
    if (bytes == null) {
      return UNKNOWN;
    }
    String[] lines = new String(bytes, StandardCharsets.UTF_8).split("\n", 5);
    try {
      return new NodeData(
          new ClientInfo(
              value(lines, 4, "label="),
              value(lines, 3, "host="),
              Long.parseLong(value(lines, 0, "pid="))),
          Integer.parseInt(value(lines, 1, "session=")),
          Long.parseLong(value(lines, 2, "lease=")));
    } catch (IllegalArgumentException e) {
      return UNKNOWN; // Written by someone else; the place in line counts all the same.
    }
  }

  private static String value(String[] lines, int index, String key) {
    if (index >= lines.length || !lines[index].startsWith(key)) {
      throw new IllegalArgumentException(key);
    }
    return lines[index].substring(key.length());
  }
}
