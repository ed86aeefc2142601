package io.fenceline.cli.once;

import io.fenceline.cli.run.Printed;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;

/** Keeps the beginning of what a command prints, and counts the rest. */
public final class Transcript implements Printed {
  /** The stream and the length of a chunk. */
  private static final int HEADER_BYTES = 5;

  private final int limitBytes;
  private final ByteArrayOutputStream chunks = new ByteArrayOutputStream();
  private long printedBytes;
  private long keptBytes;

  /** Nothing is printed yet. */
  public Transcript(int limitBytes) {
    this.limitBytes = limitBytes;
  }

  @Override
  public synchronized void add(boolean isError, byte[] buffer, int length) {
    printedBytes += length;
    // A command that prints single bytes must not make the headers larger than the limit, either.
    int room = limitBytes - chunks.size() - HEADER_BYTES;
    int kept = Math.min(length, room);
    boolean wasCut = keptBytes + length < printedBytes;
    if (kept <= 0 || wasCut) {
      return;
    }
    chunks.write(isError ? 2 : 1);
    chunks.writeBytes(ByteBuffer.allocate(Integer.BYTES).putInt(kept).array());
    chunks.write(buffer, 0, kept);
    keptBytes += kept;
  }

  /** What is kept so far. */
  public synchronized Answer answer(int exitCode) {
    return new Answer(exitCode, printedBytes, keptBytes, chunks.toByteArray());
  }
}
