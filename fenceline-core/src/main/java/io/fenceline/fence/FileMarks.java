package io.fenceline.fence;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.util.Objects;
import java.util.Set;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * The marks of a fence in a file, and the lock under which they are read and written.
 *
 * <p>The file has two lines, written in turn, each with a checksum: whatever a crash does to the
 * one that is being written, the other one is whole, and is at most one write behind, which was not
 * answered then.
 */
final class FileMarks implements AutoCloseable {
  private static final int LINE = 39 + 1 + 8 + 1; // marks, space, checksum, end of line

  private final Path file;
  private final FileChannel channel;
  private final FileLock ofAllProcesses;
  private int current;

  private FileMarks(Path file, FileChannel channel, FileLock ofAllProcesses) {
    this.file = file;
    this.channel = channel;
    this.ofAllProcesses = ofAllProcesses;
  }

  /**
   * What threads of this process synchronize on before they lock a file and until they have closed
   * it. Java refuses a second file lock of one process instead of waiting for it, and whoever
   * closes the same file in this process frees the lock, whoever has it.
   *
   * <p>It is one object for all copies of this class, which an application server may have loaded
   * for several applications: only strings are shared by all of them.
   */
  static Object ofThisProcess(Path file) {
    return ("io.fenceline.fence.FileMarks " + file).intern();
  }

  /**
   * Waits for the lock; only to be called while synchronized on {@link #ofThisProcess}.
   *
   * @param access of the file, if it is new
   */
  static FileMarks lock(Path file, FileAttribute<?>... access) throws IOException {
    FileChannel channel = null;
    try {
      channel =
          FileChannel.open(
              file,
              Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE),
              access);
      return new FileMarks(file, channel, channel.lock());
    } catch (IOException | RuntimeException e) {
      if (channel != null) {
        channel.close();
      }
      throw e;
    }
  }

  /**
   * The marks.
   *
   * @throws IOException if the file has something else: a fence must not guess
   */
  FenceMarks read() throws IOException {
    ByteBuffer lines = ByteBuffer.allocate(2 * LINE);
    while (lines.hasRemaining() && channel.read(lines, lines.position()) > 0) {
      // Once is enough, as a rule.
    }
    if (lines.position() == 0) {
      return FenceMarks.NONE;
    }
    String text = new String(lines.array(), StandardCharsets.US_ASCII);
    FenceMarks first = parse(text.substring(0, LINE));
    FenceMarks second = parse(text.substring(LINE));
    if (first == null && second == null) {
      if (lines.position() <= LINE) {
        return FenceMarks.NONE; // The very first write was not finished, and not answered.
      }
      throw new IOException(
          "the file 'marks', with the largest tokens that the fence has accepted, is damaged; restore it or the resource");
    }
    current = second == null || (first != null && isNewer(first, second)) ? 0 : 1;
    FenceMarks larger = first == null ? FenceMarks.NONE : first;
    return second == null ? larger : larger.atLeast(second);
  }

  private static boolean isNewer(FenceMarks one, FenceMarks other) {
    return one.any() == other.any()
        ? one.exclusive() >= other.exclusive()
        : one.any() > other.any();
  }

  /** Writes the marks, and returns when they are on the disk. */
  void write(FenceMarks marks) throws IOException {
    byte[] line = line(marks).getBytes(StandardCharsets.US_ASCII);
    boolean isNew = channel.size() == 0;
    if (isNew) {
      // Before there is a mark: whoever finds one takes it that the file will be found again.
      Path folder = Objects.requireNonNull(file.getParent());
      flush(folder);
      flush(Objects.requireNonNull(folder.getParent()));
    }
    channel.write(ByteBuffer.wrap(line), isNew ? 0L : (1L - current) * LINE);
    channel.force(true);
  }

  /** Returns when the marks that were read are on the disk, whoever has written them. */
  void flush() throws IOException {
    channel.force(true);
  }

  /**
   * A new or renamed file is found after a power failure only if its folder is on the disk, too.
   */
  static void flush(Path folder) throws IOException {
    try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  private static String line(FenceMarks marks) {
    String text = marks.text();
    CRC32 checksum = new CRC32();
    checksum.update(text.getBytes(StandardCharsets.US_ASCII));
    return "%s %08x\n".formatted(text, checksum.getValue());
  }

  private static @Nullable FenceMarks parse(String line) {
    try {
      FenceMarks marks = FenceMarks.parse(line.substring(0, line.indexOf(' ', 20)));
      return line.equals(line(marks)) ? marks : null;
    } catch (IllegalArgumentException | StringIndexOutOfBoundsException e) {
      return null;
    }
  }

  @Override
  public void close() throws IOException {
    try (channel) {
      ofAllProcesses.close();
    }
  }
}
