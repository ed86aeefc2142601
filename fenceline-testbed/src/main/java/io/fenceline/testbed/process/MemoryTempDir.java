package io.fenceline.testbed.process;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDirFactory;

/**
 * Makes the folders of {@code @TempDir} in memory where the machine has plenty of it.
 *
 * <p>A flush to a disk that others keep busy can take seconds, longer than SQLite waits for its
 * file. Name this class as {@code junit.jupiter.tempdir.factory.default}.
 */
public final class MemoryTempDir implements TempDirFactory {

  /** For JUnit. */
  public MemoryTempDir() {}

  @Override
  public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext test)
      throws IOException {
    return TempFolder.newPath("test", false);
  }
}
