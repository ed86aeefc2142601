package io.fenceline.etcd;

import io.etcd.jetcd.ByteSequence;
import java.nio.charset.StandardCharsets;

/**
 * The keys of all claims: {@code <root>/lock/<escaped name>!<lease>-<slot>}, and {@code
 * <root>/format}.
 *
 * <p>The mark after the name is smaller than every byte of an escaped name, and the escapes keep
 * the order of what they stand for, so that keys sort like names, byte by byte: a listing can stop
 * after as many names as it was asked for.
 */
final class Layout {
  private static final char END = '!';
  private static final char ESCAPE = '"';

  private final String locks;
  private final ByteSequence format;

  Layout(String root) {
    this.locks = root + "/lock/";
    this.format = bytes(root + "/format");
  }

  ByteSequence format() {
    return format;
  }

  /** What all claims of a name start with. */
  ByteSequence name(String name) {
    return bytes(locks + escape(name) + END);
  }

  /** What all claims of names with this prefix start with. */
  ByteSequence names(String prefix) {
    return bytes(locks + escape(prefix));
  }

  /** The key of one claim; the same slot is used again for later claims. */
  ByteSequence claim(String name, long lease, int slot) {
    return bytes(locks + escape(name) + END + Long.toHexString(lease) + "-" + slot);
  }

  /** A key among the claims that no claim ever has: a name is not empty. */
  ByteSequence ofNoClaim() {
    return bytes(locks + END);
  }

  /** The name that a key belongs to. */
  String nameOf(ByteSequence key) {
    String text = key.toString(StandardCharsets.UTF_8);
    int end = text.lastIndexOf(END);
    if (!text.startsWith(locks) || end < locks.length()) {
      throw new Entry.ForeignKeyException(
          key, new IllegalArgumentException("it is not the key of a claim"));
    }
    return unescape(text.substring(locks.length(), end));
  }

  private static String escape(String name) {
    StringBuilder escaped = new StringBuilder(name.length() + 8);
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if (c >= ' ' && c <= ESCAPE) {
        escaped.append(ESCAPE).append((char) ('0' + (c - ' ')));
      } else {
        escaped.append(c);
      }
    }
    return escaped.toString();
  }

  private static String unescape(String escaped) {
    StringBuilder name = new StringBuilder(escaped.length());
    for (int i = 0; i < escaped.length(); i++) {
      char c = escaped.charAt(i);
      if (c == ESCAPE && i + 1 < escaped.length()) {
        i++;
        name.append((char) (' ' + (escaped.charAt(i) - '0')));
      } else {
        name.append(c);
      }
    }
    return name.toString();
  }

  private static ByteSequence bytes(String text) {
    return ByteSequence.from(text, StandardCharsets.UTF_8);
  }
}
