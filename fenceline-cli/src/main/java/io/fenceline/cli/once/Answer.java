package io.fenceline.cli.once;

import io.fenceline.recipes.once.Codec;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;

/**
 * What is kept of a command: its exit code, and what it printed, in order.
 *
 * @param printedBytes how much it printed, of which {@code chunks} may be the beginning only
 * @param chunks for each piece one byte (1 stdout, 2 stderr), four of its length, and itself
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
public record Answer(int exitCode, long printedBytes, long keptBytes, byte[] chunks) {
  private static final int FORMAT = 1;
  private static final int STDERR = 2;

  /** One without output. */
  public static Answer silent(int exitCode) {
    return new Answer(exitCode, 0, 0, new byte[0]);
  }

  /** Whether some of the output is missing. */
  public boolean isCut() {
    return keptBytes < printedBytes;
  }

  /** Prints it as the command did. */
  public void print(PrintStream out, PrintStream err) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(chunks))) {
      while (in.available() > 0) {
        PrintStream to = in.readByte() == STDERR ? err : out;
        byte[] chunk = new byte[in.readInt()];
        in.readFully(chunk);
        to.write(chunk, 0, chunk.length);
        to.flush();
      }
    } catch (IOException e) {
      throw new UncheckedIOException("a record of once is damaged", e);
    }
  }

  /** How it is stored: the format, then the fields in order. */
  public static Codec<Answer> codec() {
    return new Codec<>() {
      @Override
      public byte[] encode(Answer answer) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
          out.writeByte(FORMAT);
          out.writeInt(answer.exitCode);
          out.writeLong(answer.printedBytes);
          out.writeLong(answer.keptBytes);
          out.write(answer.chunks);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
      }

      @Override
      public Answer decode(byte[] bytes) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
          int format = in.readByte();
          if (format != FORMAT) {
            throw new IllegalStateException(
                "The record has format " + format + ", and this program knows " + FORMAT);
          }
          return new Answer(in.readInt(), in.readLong(), in.readLong(), in.readAllBytes());
        } catch (IOException e) {
          throw new UncheckedIOException("a record of once is damaged", e);
        }
      }
    };
  }
}
