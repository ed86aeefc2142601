package io.fenceline.testbed.proxy;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** Reads from a connection and remembers the bytes, so that they can be passed on unchanged. */
final class FrameReader {

  private static final int BUFFER_BYTES = 16 * 1024;
  // A proxy of a test has no business with larger ones; this keeps a broken length from filling
  // the heap.
  private static final int MAX_FRAME_BYTES = 64 * 1024 * 1024;

  private final InputStream in;
  private ByteArrayOutputStream seen = new ByteArrayOutputStream();

  FrameReader(InputStream in) {
    this.in = new BufferedInputStream(in, BUFFER_BYTES);
  }

  /** The next byte, or -1 at the end of the stream. */
  int readByteOrEnd() throws IOException {
    int b = in.read();
    if (b >= 0) {
      seen.write(b);
    }
    return b;
  }

  int readByte() throws IOException {
    int b = readByteOrEnd();
    if (b < 0) {
      throw new EOFException();
    }
    return b;
  }

  /** A signed 32-bit number, most significant byte first. */
  int readInt() throws IOException {
    return readByte() << 24 | readByte() << 16 | readByte() << 8 | readByte();
  }

  byte[] readBytes(int count) throws IOException {
    if (count < 0 || count > MAX_FRAME_BYTES - seen.size()) {
      throw new IOException("A frame of " + count + " bytes is not plausible");
    }
    byte[] bytes = in.readNBytes(count);
    seen.writeBytes(bytes);
    if (bytes.length < count) {
      throw new EOFException();
    }
    return bytes;
  }

  /** A line without its end, CR LF or LF. */
  String readLine() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int b = readByte(); b != '\n'; b = readByte()) {
      if (seen.size() > MAX_FRAME_BYTES) {
        throw new IOException("A line of " + line.size() + " bytes is not plausible");
      }
      line.write(b);
    }
    String text = line.toString(StandardCharsets.UTF_8);
    return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
  }

  /** All that has arrived and was not read yet; nothing if that would have to wait. */
  void readAvailable() throws IOException {
    int count = Math.min(in.available(), BUFFER_BYTES);
    if (count > 0) {
      seen.writeBytes(in.readNBytes(count));
    }
  }

  /** The bytes read since the last call. */
  byte[] take() {
    byte[] bytes = seen.toByteArray();
    seen = new ByteArrayOutputStream();
    return bytes;
  }
}
