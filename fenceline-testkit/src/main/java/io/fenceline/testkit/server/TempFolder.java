package io.fenceline.testkit.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/** A fresh folder that is deleted with all it holds. */
final class TempFolder implements AutoCloseable {

  private static final int ATTEMPTS = 3;

  private final Path path;

  private TempFolder(Path path) {
    this.path = path;
  }

  static TempFolder create(String name) {
    try {
      TempFolder folder = new TempFolder(Files.createTempDirectory("fenceline-" + name + "-"));
      AtExit.delete(folder);
      return folder;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Path path() {
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
