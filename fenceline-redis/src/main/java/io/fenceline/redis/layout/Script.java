package io.fenceline.redis.layout;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A script of the resources beside this class, with the hash that Redis knows it by. */
@SuppressWarnings("ImmutableEnumChecker") // The arrays never leave this package.
public enum Script {
  TAKE,
  CLAIM,
  RENEW,
  GIVE,
  BATCH,
  RELEASE,
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

  private final byte[] body;
  private final byte[] hash;

  Script() {
    String text = load(name().toLowerCase(java.util.Locale.ROOT) + ".lua");
    this.body = text.getBytes(StandardCharsets.US_ASCII);
    this.hash = HexFormat.of().formatHex(sha1(body)).getBytes(StandardCharsets.US_ASCII);
  }

  /** Whether it is for the nodes of a Redlock, and for no other server. */
  public boolean isForRedlock() {
    return name().startsWith("REDLOCK");
  }

  public byte[] body() {
    return body;
  }

  public byte[] hash() {
    return hash;
  }

  /** Reads a script; a line such as {@code --@include number.lua} stands for that file. */
  public static String load(String file) {
    Matcher includes = Pattern.compile("(?m)^--@include (\\S+)$").matcher(read(file));
    return includes.replaceAll(found -> Matcher.quoteReplacement(load(found.group(1))));
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
