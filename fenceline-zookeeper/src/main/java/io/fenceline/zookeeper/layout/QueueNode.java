package io.fenceline.zookeeper.layout;

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
 * A claim's node in the queue of a name, read from the node's own name: {@code
 * mode.client.tag.sequence}.
 *
 * <p>The name has all that decides who is granted, so one list of children is enough.
 *
 * @param name the name of the node
 * @param mode {@code x} exclusive, {@code s} shared, {@code p2-5} two of five permits
 * @param waits whether it stays in the queue; a try has a capital letter, and soon leaves if
 *     refused
 * @param client which store instance made it; several may share one session
 * @param tag a hash of the owner: the owner itself is a secret, and nodes can be read
 * @param sequence as ZooKeeper gave it; see {@code LockQueue} for when it tells the order
 */
public record QueueNode(
    String name, Mode mode, boolean waits, String client, String tag, int sequence) {
  private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();
  private static final int TAG_BYTES = 12;
  private static final int ID_BYTES = 6;

  /** The name of a node up to its sequence, which ZooKeeper adds. */
  public static String prefix(Mode mode, boolean waits, String client, String tag) {
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
  public static @Nullable QueueNode parse(String name) {
    int first = name.indexOf('.');
    int second = name.indexOf('.', first + 1);
    int third = name.indexOf('.', second + 1);
    if (first < 1 || second < 0 || third < 0) {
      return null;
    }
    try {
      String letter = name.substring(0, first).toLowerCase(Locale.ROOT);
      Mode mode = mode(letter);
      return mode == null
          ? null
          : new QueueNode(
              name,
              mode,
              letter.charAt(0) == name.charAt(0),
              name.substring(first + 1, second),
              name.substring(second + 1, third),
              Integer.parseInt(name.substring(third + 1)));
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /** The sequence of a node that ZooKeeper has made for us. */
  public static int sequenceOf(String path) {
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
  public static String tagOf(Owner owner) {
    try {
      MessageDigest sha = MessageDigest.getInstance("SHA-256");
      byte[] digest = sha.digest(owner.secret().getBytes(StandardCharsets.US_ASCII));
      return BASE64.encodeToString(java.util.Arrays.copyOf(digest, TAG_BYTES));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java runtime has SHA-256", e);
    }
  }

  /** The public id of the owner. */
  public String ownerId() {
    byte[] digest = Base64.getUrlDecoder().decode(tag);
    return HexFormat.of().formatHex(digest, 0, Math.min(ID_BYTES, digest.length));
  }
}
