package io.fenceline.redis.claim;

import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Owner;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The head of a name with one holder, as {@code table.lua} has it, without the number that only the
 * server knows: what stands before it, and the facts behind it in MessagePack.
 */
public final class SoleHolder {
  private static final int MARK_BYTES = 17;
  private static final int LONGEST_NUMBER = 9;
  private static final int FIELDS = 6;
  private static final int ARRAY = 0x90;
  private static final int SHORT_TEXT = 0xa0;
  private static final int LONG_TEXT = 0xda;
  private static final int LONGEST_SHORT = 31;
  private static final int NUMBER = 0xcf;
  private static final int LARGEST_SHORT = 127;

  private final byte[] client;
  private volatile @Nullable Facts last;

  /** The facts of a claim: most claims of a client have the same. */
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  private record Facts(Mode mode, Duration lease, Duration delay, byte[] packed) {
    boolean fit(ClaimRequest request) {
      return mode.equals(request.mode())
          && lease.equals(request.lease())
          && delay.equals(request.delay());
    }
  }

  /** Heads of one client. */
  public SoleHolder(byte[] client) {
    this.client = client;
  }

  /** What every head of this owner starts with. */
  public static byte[] mark(Owner owner) {
    return owner.writeTo(ByteBuffer.allocate(MARK_BYTES).put((byte) 'h')).array();
  }

  /** What follows the number: a space, then kind, count, total, term, delay and client. */
  public byte[] facts(ClaimRequest request) {
    Facts known = last;
    if (known == null || !known.fit(request)) {
      known = new Facts(request.mode(), request.lease(), request.delay(), pack(request));
      last = known;
    }
    return known.packed;
  }

  private byte[] pack(ClaimRequest request) {
    ByteBuffer out = ByteBuffer.allocate(7 + 4 * LONGEST_NUMBER + client.length);
    out.put((byte) ' ').put((byte) (ARRAY | FIELDS)).put((byte) (SHORT_TEXT | 1));
    Mode mode = request.mode();
    if (mode instanceof Mode.Permits permits) {
      out.put((byte) 'p');
      write(out, permits.count());
      write(out, permits.total());
    } else {
      out.put((byte) (mode instanceof Mode.Shared ? 's' : 'x'));
      write(out, 1);
      write(out, 0);
    }
    write(out, request.lease().toMillis() + request.delay().toMillis());
    write(out, request.delay().toMillis());
    if (client.length <= LONGEST_SHORT) {
      out.put((byte) (SHORT_TEXT | client.length));
    } else {
      out.put((byte) LONG_TEXT).putShort((short) client.length);
    }
    byte[] packed = new byte[out.put(client).flip().remaining()];
    out.get(packed);
    return packed;
  }

  private static void write(ByteBuffer out, long number) {
    if (number <= LARGEST_SHORT) {
      out.put((byte) number);
    } else {
      out.put((byte) NUMBER).putLong(number);
    }
  }
}
