package io.fenceline.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Owner;
import java.io.ByteArrayOutputStream;

/**
 * The head of a name with one holder, as {@code table.lua} has it, in MessagePack; without the
 * figures that only the server knows.
 */
final class SoloHead {
  private static final int FIELDS = 9;
  private static final int ARRAY = 0x90;
  private static final int SHORT_TEXT = 0xa0;
  private static final int LONG_TEXT = 0xda;
  private static final int LONGEST_SHORT = 31;
  private static final int NUMBER = 0xcf;
  private static final int LARGEST_SHORT = 127;

  private SoloHead() {}

  /** What every head of this owner starts with. */
  static byte[] mark(Owner owner) {
    byte[] mark = new byte[17];
    mark[0] = 'h';
    System.arraycopy(owner.bytes(), 0, mark, 1, 16);
    return mark;
  }

  /** Up to the number: the mark, then kind, count and total. */
  static byte[] start(ClaimRequest request) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(32);
    out.writeBytes(mark(request.owner()));
    out.write(ARRAY | FIELDS);
    Mode mode = request.mode();
    if (mode instanceof Mode.Permits permits) {
      write(out, "p".getBytes(US_ASCII));
      write(out, permits.count());
      write(out, permits.total());
    } else {
      write(out, (mode instanceof Mode.Shared ? "s" : "x").getBytes(US_ASCII));
      write(out, 1);
      write(out, 0);
    }
    return out.toByteArray();
  }

  /** Between the time of the grant and its end: term, delay and client. */
  static byte[] rest(ClaimRequest request, byte[] client) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(32 + client.length);
    write(out, request.lease().toMillis() + request.delay().toMillis());
    write(out, request.delay().toMillis());
    write(out, client);
    return out.toByteArray();
  }

  private static void write(ByteArrayOutputStream out, byte[] text) {
    if (text.length <= LONGEST_SHORT) {
      out.write(SHORT_TEXT | text.length);
    } else {
      out.write(LONG_TEXT);
      out.write(text.length >>> 8);
      out.write(text.length);
    }
    out.writeBytes(text);
  }

  private static void write(ByteArrayOutputStream out, long number) {
    if (number <= LARGEST_SHORT) {
      out.write((int) number);
      return;
    }
    out.write(NUMBER);
    for (int shift = 56; shift >= 0; shift -= 8) {
      out.write((int) (number >>> shift));
    }
  }
}
