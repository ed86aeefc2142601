package io.fenceline.fence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.FencingToken;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Marks that are there survive a power failure. */
class FileMarksTest {
  @TempDir Path folder;

  /**
   * Whoever finds a mark need not flush the folders again. A zip has folders that can't be flushed,
   * which ends the first write where a process could be killed.
   */
  @Test
  void firstMark_isNotWrittenBeforeItsFoldersAreOnTheDisk() throws Exception {
    try (FileSystem zip =
        FileSystems.newFileSystem(folder.resolve("disk.zip"), Map.of("create", "true"))) {
      Path beside = Files.createDirectories(zip.getPath("/shop/.prices.fence"));
      Path file = beside.resolve("marks");
      try (FileMarks marks = FileMarks.lock(file)) {
        assertThatThrownBy(() -> marks.write(new FenceMarks(33, 33)))
            .isInstanceOf(IOException.class)
            .hasMessageContaining(".prices.fence");
      }

      assertThat(Files.size(file)).isZero();
      try (FileMarks marks = FileMarks.lock(file)) {
        assertThat(marks.read()).isEqualTo(FenceMarks.NONE);
        assertThatThrownBy(() -> marks.write(new FenceMarks(33, 33)))
            .as("the next one flushes them")
            .isInstanceOf(IOException.class);
      }
    }
  }

  /** A writer that is killed after it wrote a mark, and before the mark was on the disk. */
  @Test
  void markOfAnotherWriter_isFlushedBeforeTheSameTokenPasses() throws Exception {
    Path file = folder.resolve("prices");
    FencingToken token = FencingToken.exclusive(33);
    FencedFile.at(file).check(token);
    FencedFile next = FencedFile.at(file);

    assertThat(flushesOfMarks(() -> next.replace("new".getBytes(), token))).isEqualTo(1);
    assertThat(flushesOfMarks(() -> next.replace("newer".getBytes(), token)))
        .as("it knows that they are on the disk")
        .isZero();
    assertThat(flushesOfMarks(() -> FencedFile.at(file).check(token))).isEqualTo(1);
  }

  private long flushesOfMarks(Runnable action) throws IOException {
    Path recorded = folder.resolve("recorded.jfr");
    try (Recording recording = new Recording()) {
      recording.enable("jdk.FileForce").withThreshold(Duration.ZERO);
      recording.start();
      action.run();
      recording.stop();
      recording.dump(recorded);
    }
    return RecordingFile.readAllEvents(recorded).stream()
        .filter(event -> event.getString("path").endsWith("marks"))
        .count();
  }
}
