package io.fenceline.testbed.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/**
 * A fresh folder that is deleted with all it holds.
 *
 * <p>In memory where the machine has plenty of it: a server that writes to a disk which others keep
 * busy answers late, and that is not what a test is about. To a server that is killed it makes no
 * difference, since what it has written outlives it in both. Whoever sets {@code java.io.tmpdir}
 * has chosen otherwise.
 */
public final class TempFolder implements AutoCloseable {

  private static final Path MEMORY = Path.of("/dev/shm");
  private static final long PLENTY_BYTES = 6L << 30;
  private static final int ATTEMPTS = 3;

  private final Path path;

  private TempFolder(Path path) {
    this.path = path;
  }

  public static TempFolder create(String name) {
    return create(name, false);
  }

  /** Creates one on disk, where {@code onDisk}: MariaDB writes to memory without being asked to. */
  public static TempFolder create(String name, boolean onDisk) {
    try {
      TempFolder folder = new TempFolder(newPath(name, onDisk));
      AtExit.delete(folder);
      return folder;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Creates an empty folder that the caller deletes. */
  static Path newPath(String name, boolean onDisk) throws IOException {
    String prefix = "fenceline-" + name + "-";
    return !onDisk && inMemory()
        ? Files.createTempDirectory(MEMORY, prefix)
        : Files.createTempDirectory(prefix);
  }

  private static boolean inMemory() throws IOException {
    boolean nobodyChose = "/tmp".equals(System.getProperty("java.io.tmpdir"));
    return nobodyChose
        && Files.isWritable(MEMORY)
        && Files.getFileStore(MEMORY).getUsableSpace() >= PLENTY_BYTES;
  }

  public Path path() {
    return path;
  }

  @Override
  public void close() {
    for (int attempt = 1; ; attempt++) {
      try {
        deleteAll();
        AtExit.forget(this);
        return;
      } catch (IOException e) {
        // A dying server may still have created a file while we deleted.
        if (attempt == ATTEMPTS) {
          throw new UncheckedIOException(e);
        }
      }
    }
  }

  private void deleteAll() throws IOException {
    if (Files.notExists(path)) {
      return;
    }
    Files.walkFileTree(
        path,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
            if (e instanceof NoSuchFileException) {
              return FileVisitResult.CONTINUE;
            }
            throw e;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException e)
              throws IOException {
            if (e != null) {
              throw e;
            }
            Files.deleteIfExists(folder);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}
