package io.fenceline.redis;

import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Owner;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The head of a name with one holder, as {@code table.lua} has it, in MessagePack; without the
 * figures that only the server knows.
 */
final class SoloHead {
  private static final int MARK_BYTES = 17;
  private static final int LONGEST_NUMBER = 9;
  private static final int FIELDS = 9;
  private static final int ARRAY = 0x90;
  private static final int SHORT_TEXT = 0xa0;
  private static final int LONG_TEXT = 0xda;
  private static final int LONGEST_SHORT = 31;
  private static final int NUMBER = 0xcf;
  private static final int LARGEST_SHORT = 127;

  private final byte[] client;
  private volatile @Nullable Rest last;

  /** The second part for a lease and a delay: most claims of a client have the same. */
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  private record Rest(Duration lease, Duration delay, byte[] packed) {
    boolean fits(ClaimRequest request) {
      return lease.equals(request.lease()) && delay.equals(request.delay());
    }
  }

  /** Heads of one client. */
  SoloHead(byte[] client) {
    this.client = client;
  }

  /** What every head of this owner starts with. */
  static byte[] mark(Owner owner) {
    return owner.writeTo(ByteBuffer.allocate(MARK_BYTES).put((byte) 'h')).array();
  }

  /** Up to the number: the mark, then kind, count and total. */
  static byte[] start(ClaimRequest request) {
    ByteBuffer out = ByteBuffer.allocate(MARK_BYTES + 3 + 2 * LONGEST_NUMBER);
    request.owner().writeTo(out.put((byte) 'h'));
    out.put((byte) (ARRAY | FIELDS)).put((byte) (SHORT_TEXT | 1));
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
    return written(out);
  }

  /** Between the time of the grant and its end: term, delay and client. */
  byte[] rest(ClaimRequest request) {
    Rest known = last;
    if (known == null || !known.fits(request)) {
      known = new Rest(request.lease(), request.delay(), pack(request));
      last = known;
    }
    return known.packed;
  }

  private byte[] pack(ClaimRequest request) {
    ByteBuffer out = ByteBuffer.allocate(2 * LONGEST_NUMBER + 3 + client.length);
    write(out, request.lease().toMillis() + request.delay().toMillis());
    write(out, request.delay().toMillis());
    if (client.length <= LONGEST_SHORT) {
      out.put((byte) (SHORT_TEXT | client.length));
    } else {
      out.put((byte) LONG_TEXT).putShort((short) client.length);
    }
    return written(out.put(client));
  }

  private static void write(ByteBuffer out, long number) {
    if (number <= LARGEST_SHORT) {
      out.put((byte) number);
    } else {
      out.put((byte) NUMBER).putLong(number);
    }
  }

  private static byte[] written(ByteBuffer out) {
    byte[] bytes = new byte[out.flip().remaining()];
    out.get(bytes);
    return bytes;
  }
}
