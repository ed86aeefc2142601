package io.fenceline.redis;

import static io.fenceline.redis.Layout.bytes;

import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Mode;
import java.util.stream.Collectors;

/**
 * A claim, as the scripts of a Redlock want it.
 *
 * @param claim what is asked for
 * @param slots which permits, where it is permits
 * @param bucket of the name
 */
record RedlockRequest(ClaimRequest claim, RedlockSlots slots, int bucket) {
  private static final byte[] EXCLUSIVE = bytes("x");
  private static final byte[] SHARED = bytes("s");
  private static final byte[] PERMITS = bytes("p");

  static RedlockRequest of(ClaimRequest claim, RedlockSlots slots) {
    return new RedlockRequest(claim, slots, RedlockLayout.bucket(claim.name()));
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

  /** Of {@code redlock_claim.lua}. */
  byte[][] firstRound(byte[] run, long seen, byte[] client, byte[] channel) {
    return new byte[][] {
      run,
      bytes(bucket),
      claim.owner().bytes(),
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

  /** Of {@code redlock_confirm.lua}. */
  byte[][] secondRound(byte[] run, long given, long token) {
    return new byte[][] {run, bytes(bucket), claim.owner().bytes(), bytes(given), bytes(token)};
  }

  /** Of {@code redlock_restore.lua}. */
  byte[][] restoration(long token, long leaseMillis, byte[] client) {
    return new byte[][] {
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
