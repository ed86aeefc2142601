package io.fenceline.zookeeper.layout;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;

/**
 * The paths of all nodes.
 *
 * <pre>
 * /fenceline               data: the version of this layout
 * /fenceline/heartbeat     written by every session that holds something
 * /fenceline/locks/7c/ledger                        container: one name
 * /fenceline/locks/7c/ledger/x.Qk3ZtA.0Vt4Gz2mXcR1bD9s.0000000042   one claim
 * </pre>
 *
 * <p>Names are spread over 256 folders, because ZooKeeper answers with all children or none, and an
 * answer of more than a megabyte breaks the connection.
 */
public final class Layout {
  /** The version of this layout, as the root folder states it. */
  public static final String FORMAT = "fenceline format 1";

  private static final HexFormat HEX = HexFormat.of();

  public final String root;
  public final String heartbeat;
  public final String locks;

  public Layout(String root) {
    this.root = root;
    this.heartbeat = root + "/heartbeat";
    this.locks = root + "/locks";
  }

  /** Returns the folder that holds the containers of this and other names. */
  public String shardOf(String name) {
    int hash = name.hashCode(); // Specified by the language, so it is part of the layout.
    int mixed = hash ^ hash >>> 16;
    return locks + "/" + HEX.toHexDigits((byte) (mixed ^ mixed >>> 8));
  }

  /** What the root folder contains. */
  public static byte[] formatBytes() {
    return FORMAT.getBytes(StandardCharsets.UTF_8);
  }

  /** Returns the container of a name's claims. */
  public String of(String name) {
    return shardOf(name) + "/" + escape(name);
  }

  /** Returns the name that a container belongs to. */
  public static String nameOf(String container) {
    return unescape(container.substring(container.lastIndexOf('/') + 1));
  }

  /** A name as one component of a path: ZooKeeper allows neither every character nor a slash. */
  public static String escape(String name) {
    if (name.equals(".") || name.equals("..")) {
      return name.replace(".", "%2E");
    }
    StringBuilder escaped = null;
    for (int i = 0; i < name.length(); ) {
      int c = name.codePointAt(i);
      int width = Character.charCount(c);
      if (isPlain(c)) {
        if (escaped != null) {
          escaped.appendCodePoint(c);
        }
      } else {
        if (escaped == null) {
          escaped = new StringBuilder(name.length() + 16).append(name, 0, i);
        }
        for (byte b : name.substring(i, i + width).getBytes(StandardCharsets.UTF_8)) {
          escaped.append('%').append(HEX.toHexDigits(b).toUpperCase(Locale.ROOT));
        }
      }
      i += width;
    }
    return escaped == null ? name : escaped.toString();
  }

  private static boolean isPlain(int c) {
    return c != '/' && c != '%' && ((c > 0x1F && c < 0x7F) || (c > 0x9F && c < 0xD800));
  }

  /** The name that a component stands for. */
  public static String unescape(String component) {
    if (component.indexOf('%') < 0) {
      return component;
    }
    byte[] bytes = component.getBytes(StandardCharsets.UTF_8);
    byte[] plain = new byte[bytes.length];
    int length = 0;
    for (int i = 0; i < bytes.length; i++) {
      if (bytes[i] == '%' && i + 2 < bytes.length) {
        plain[length++] =
            (byte)
                (HexFormat.fromHexDigit(bytes[i + 1]) << 4 | HexFormat.fromHexDigit(bytes[i + 2]));
        i += 2;
      } else {
        plain[length++] = bytes[i];
      }
    }
    return new String(plain, 0, length, StandardCharsets.UTF_8);
  }
}
