package io.fenceline.zookeeper;

import io.fenceline.spi.Mode;
import io.fenceline.spi.Owner;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A claim's place in line, as the name of its node says it: {@code mode.client.tag.sequence}.
 *
 * <p>All that decides who is granted is in the name, so that one listing tells it.
 *
 * @param node the name of the node
 * @param mode {@code x} exclusive, {@code s} shared, {@code p2-5} two of five permits
 * @param waits whether it stays in line; a try has a capital letter, and soon leaves if refused
 * @param client which store instance made it; several may share one session
 * @param tag a hash of the owner: the owner itself is a secret, and nodes can be read
 * @param sequence as ZooKeeper gave it; see {@link Line} for what it is worth
 */
record Place(String node, Mode mode, boolean waits, String client, String tag, int sequence) {
  private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();
  private static final int TAG_BYTES = 12;
  private static final int ID_BYTES = 6;

  /** The name of a node up to its sequence, which ZooKeeper adds. */
  static String prefix(Mode mode, boolean waits, String client, String tag) {
    String letter = waits ? letter(mode) : letter(mode).toUpperCase(Locale.ROOT);
    return letter + "." + client + "." + tag + ".";
  }

  private static String letter(Mode mode) {
    if (mode instanceof Mode.Permits permits) {
      return "p" + permits.count() + "-" + permits.total();
    }
    return mode instanceof Mode.Shared ? "s" : "x";
  }

  /** Reads the name of a node; null if it is none of ours. */
  static @Nullable Place parse(String node) {
    int first = node.indexOf('.');
    int second = node.indexOf('.', first + 1);
    int third = node.indexOf('.', second + 1);
    if (first < 1 || second < 0 || third < 0) {
      return null;
    }
    try {
      String letter = node.substring(0, first).toLowerCase(Locale.ROOT);
      Mode mode = mode(letter);
      return mode == null
          ? null
          : new Place(
              node,
              mode,
              letter.charAt(0) == node.charAt(0),
              node.substring(first + 1, second),
              node.substring(second + 1, third),
              Integer.parseInt(node.substring(third + 1)));
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /** The sequence of a node that ZooKeeper has made for us. */
  static int sequenceOf(String path) {
    return Integer.parseInt(path.substring(path.lastIndexOf('.') + 1));
  }

  private static @Nullable Mode mode(String letter) {
    return switch (letter.charAt(0)) {
      case 'x' -> Mode.EXCLUSIVE;
      case 's' -> Mode.SHARED;
      case 'p' -> permits(letter);
      default -> null;
    };
  }

  private static @Nullable Mode permits(String letter) {
    int dash = letter.indexOf('-');
    return dash < 0
        ? null
        : Mode.permits(
            Integer.parseInt(letter.substring(1, dash)),
            Integer.parseInt(letter.substring(dash + 1)));
  }

  /** The tag of an owner; it begins with the owner's public id, in other letters. */
  static String tagOf(Owner owner) {
    try {
      MessageDigest sha = MessageDigest.getInstance("SHA-256");
      byte[] digest = sha.digest(owner.secret().getBytes(StandardCharsets.US_ASCII));
      return BASE64.encodeToString(java.util.Arrays.copyOf(digest, TAG_BYTES));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java runtime has SHA-256", e);
    }
  }

  /** The public id of the owner. */
  String ownerId() {
    byte[] digest = Base64.getUrlDecoder().decode(tag);
    return HexFormat.of().formatHex(digest, 0, Math.min(ID_BYTES, digest.length));
  }
}
