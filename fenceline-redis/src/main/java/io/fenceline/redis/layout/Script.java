package io.fenceline.redis.layout;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A script of the resources beside this class, with the hash that Redis knows it by. */
@SuppressWarnings("ImmutableEnumChecker") // The arrays never leave this package.
public enum Script {
  CLAIM,
  CLAIM_UNCONTENDED,
  RENEW,
  RELEASE,
  RELEASE_UNCONTENDED,
  BATCH_UNCONTENDED,
  WITHDRAW,
  FORCE,
  INSPECT,
  PROBE,
  RIGHTS,
  REDLOCK_CLAIM,
  REDLOCK_CONFIRM,
  REDLOCK_RENEW,
  REDLOCK_RESTORE,
  REDLOCK_END,
  REDLOCK_INSPECT,
  REDLOCK_SURVEY,
  REDLOCK_ADMIT;

  private static final String INCLUDE = "--@include ";

  private volatile @Nullable Text text;

  /** Read when it is first needed: a client needs few of them, and a short one pays for all. */
  private Text text() {
    Text read = text;
    if (read == null) {
      String file = name().toLowerCase(Locale.ROOT).replace('_', '-') + ".lua";
      byte[] body = load(file).getBytes(StandardCharsets.US_ASCII);
      String hash = HexFormat.of().formatHex(sha1(body));
      read = new Text(body, hash.getBytes(StandardCharsets.US_ASCII));
      text = read;
    }
    return read;
  }

  private static final class Text {
    final byte[] body;
    final byte[] hash;

    Text(byte[] body, byte[] hash) {
      this.body = body;
      this.hash = hash;
    }
  }

  /** Whether it is for the nodes of a Redlock, and for no other server. */
  public boolean isForRedlock() {
    return name().startsWith("REDLOCK");
  }

  public byte[] body() {
    return text().body;
  }

  public byte[] hash() {
    return text().hash;
  }

  /** Reads a script; a line such as {@code --@include number.lua} stands for that file. */
  public static String load(String file) {
    String text = read(file);
    if (!text.contains(INCLUDE)) {
      return text;
    }
    StringBuilder whole = new StringBuilder();
    int from = 0;
    while (from < text.length()) {
      int newline = text.indexOf('\n', from);
      int end = newline < 0 ? text.length() : newline;
      if (text.startsWith(INCLUDE, from)) {
        whole.append(load(text.substring(from + INCLUDE.length(), end)));
      } else {
        whole.append(text, from, end);
      }
      if (newline >= 0) {
        whole.append('\n');
      }
      from = end + 1;
    }
    return whole.toString();
  }

  private static String read(String file) {
    try (InputStream in = Script.class.getResourceAsStream(file)) {
      if (in == null) {
        throw new IllegalStateException("the artifact lacks its resource " + file);
      }
      return new String(in.readAllBytes(), StandardCharsets.US_ASCII);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static byte[] sha1(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-1").digest(bytes);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java runtime has SHA-1", e);
    }
  }
}
