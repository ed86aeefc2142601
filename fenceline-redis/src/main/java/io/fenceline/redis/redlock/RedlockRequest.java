package io.fenceline.redis.redlock;

import static io.fenceline.redis.layout.Layout.bytes;

import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Mode;
import java.util.stream.Collectors;

/**
 * A claim, as the scripts of a Redlock want it.
 *
 * @param claim what is asked for
 * @param slots which permits, where it is permits
 * @param attempt of the owner, larger than that of its earlier ones; {@link #HELD} if it holds the
 *     name
 * @param bucket of the name
 */
record RedlockRequest(ClaimRequest claim, PermitSlots slots, long attempt, int bucket) {
  /** Larger than every attempt, as in {@code redlock-name.lua}. */
  static final long HELD = (1L << 53) - 1;

  private static final byte[] EXCLUSIVE = bytes("x");
  private static final byte[] SHARED = bytes("s");
  private static final byte[] PERMITS = bytes("p");
  private static final byte[] RELEASE = bytes("r");
  private static final byte[] CLOSING = bytes("c");
  private static final byte[] WITHDRAWAL = bytes("w");
  private static final byte[] FORCE = bytes("f");
  private static final byte[] MARK = bytes("m");

  static RedlockRequest of(ClaimRequest claim, PermitSlots slots, long attempt) {
    return new RedlockRequest(claim, slots, attempt, RedlockLayout.bucket(claim.name()));
  }

  byte[][] keys() {
    return RedlockLayout.keys(claim.name());
  }

  private byte[] kind() {
    if (claim.mode() instanceof Mode.Permits) {
      return PERMITS;
    }
    return claim.mode() instanceof Mode.Shared ? SHARED : EXCLUSIVE;
  }

  private byte[] total() {
    return bytes(claim.mode() instanceof Mode.Permits permits ? permits.total() : 0);
  }

  private byte[] slotList() {
    return bytes(slots.chosen().stream().map(String::valueOf).collect(Collectors.joining(",")));
  }

  /** Of {@code redlock-claim.lua}. */
  byte[][] firstRound(byte[] run, long seen, byte[] client, byte[] channel) {
    return new byte[][] {
      run,
      bytes(bucket),
      claim.owner().bytes(),
      bytes(attempt),
      kind(),
      slotList(),
      total(),
      bytes(claim.lease().toMillis()),
      bytes(claim.delay().toMillis()),
      bytes(seen),
      client,
      channel
    };
  }

  /** Of {@code redlock-confirm.lua}. */
  byte[][] secondRound(byte[] run, long given, long token) {
    return new byte[][] {run, bytes(bucket), claim.owner().bytes(), bytes(given), bytes(token)};
  }

  /**
   * Of {@code redlock-end.lua}: ends what an owner has claimed.
   *
   * @param attempt up to which it is ended
   * @param awayMillis for how long requests that are still on their way are turned away
   */
  static byte[][] withdrawal(byte[] owner, long attempt, long awayMillis) {
    return ending(owner, attempt, WITHDRAWAL, 0, awayMillis, 0);
  }

  /**
   * Of {@code redlock-end.lua}: ends a hold.
   *
   * @param keepMillis for how long the name stays closed
   */
  static byte[][] release(byte[] owner, long keepMillis, long awayMillis, long number) {
    return ending(owner, HELD, RELEASE, keepMillis, awayMillis, number);
  }

  /** Of {@code redlock-end.lua}: closes the name also where the hold is not known. */
  byte[][] closing(long keepMillis, long number, byte[] client) {
    return new byte[][] {
      claim.owner().bytes(),
      bytes(HELD),
      CLOSING,
      bytes(keepMillis),
      bytes(0),
      bytes(number),
      kind(),
      slotList(),
      total(),
      bytes(claim.delay().toMillis()),
      client
    };
  }

  /**
   * Of {@code redlock-end.lua}: ends a hold whoever owns it.
   *
   * @param now false if nodes are only told that it will be ended
   * @param termMillis for how long its owner may believe in it
   */
  static byte[][] force(byte[] owner, long attempt, boolean now, long termMillis, long number) {
    return ending(owner, attempt, now ? FORCE : MARK, termMillis, 0, number);
  }

  private static byte[][] ending(
      byte[] owner, long attempt, byte[] how, long termMillis, long awayMillis, long number) {
    return new byte[][] {
      owner, bytes(attempt), how, bytes(termMillis), bytes(awayMillis), bytes(number)
    };
  }

  /** Of {@code redlock-restore.lua}. */
  byte[][] restoration(byte[] run, long token, long leaseMillis, byte[] client) {
    return new byte[][] {
      run,
      bytes(bucket),
      claim.owner().bytes(),
      kind(),
      slotList(),
      total(),
      bytes(token),
      bytes(leaseMillis),
      bytes(claim.delay().toMillis()),
      client
    };
  }
}
