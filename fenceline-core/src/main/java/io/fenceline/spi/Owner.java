package io.fenceline.spi;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Who claims: 128 random bits, drawn anew for each acquisition.
 *
 * <p>The owner is the capability to renew and to release, so it is never shown: logs, inspection
 * and {@code toString} use {@link #id()}, a hash of it. A thread or a host can't be an owner: its
 * name comes back, and would then reach a grant that is no longer its own.
 */
public final class Owner {
  private static final int ID_LENGTH = 12;

  private final long high;
  private final long low;

  /** The hash, once it was asked for; computed twice if two threads ask at once. */
  private @Nullable String id;

  private Owner(long high, long low) {
    this.high = high;
    this.low = low;
  }

  /** Returns a new owner. */
  public static Owner draw(RandomGenerator random) {
    ByteBuffer bits = ByteBuffer.allocate(2 * Long.BYTES);
    random.nextBytes(bits.array());
    return new Owner(bits.getLong(), bits.getLong());
  }

  /**
   * Returns the owner from the secret that a store has kept.
   *
   * @throws IllegalArgumentException if the text is not what {@link #secret()} gives
   */
  public static Owner ofSecret(String secret) {
    if (secret.length() != 32) {
      throw new IllegalArgumentException("an owner has 32 hexadecimal digits");
    }
    return new Owner(
        HexFormat.fromHexDigitsToLong(secret, 0, 16),
        HexFormat.fromHexDigitsToLong(secret, 16, 32));
  }

  /** Returns the 32 hexadecimal digits that a store keeps; not for logs. */
  public String secret() {
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(high) + hex.toHexDigits(low);
  }

  /** Returns the public name of the hold: the same in logs, events and inspection. */
  public String id() {
    String known = id;
    if (known == null) {
      known = idOf(secret());
      id = known;
    }
    return known;
  }

  /** Returns the {@link #id()} of an owner of which only the secret is at hand. */
  public static String idOf(String secret) {
    byte[] digest = sha256().digest(secret.getBytes(StandardCharsets.US_ASCII));
    return HexFormat.of().formatHex(digest, 0, ID_LENGTH / 2);
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java runtime has SHA-256", e);
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Owner that && that.high == high && that.low == low;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(high ^ low);
  }

  @Override
  public String toString() {
    return id();
  }

  /** Returns the 16 bytes of the secret, for stores that keep bytes. */
  public byte[] bytes() {
    return writeTo(ByteBuffer.allocate(2 * Long.BYTES)).array();
  }

  /** Appends the 16 bytes of the secret. */
  public ByteBuffer writeTo(ByteBuffer out) {
    return out.putLong(high).putLong(low);
  }
}
