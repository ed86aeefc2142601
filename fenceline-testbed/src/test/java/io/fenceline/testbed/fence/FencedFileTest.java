package io.fenceline.testbed.fence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.FencingToken;
import io.fenceline.StaleTokenException;
import io.fenceline.fence.FenceListener;
import io.fenceline.fence.FenceMarks;
import io.fenceline.fence.FencedFile;
import io.fenceline.testbed.process.JavaProcess;
import io.fenceline.testbed.process.ProcessState;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.fence.FenceContract;
import io.fenceline.testkit.fence.FencedCell;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file that only the newest writer replaces, whatever crashes. */
class FencedFileTest extends FenceContract {
  private static final Duration AMPLE = Duration.ofSeconds(60);

  @TempDir Path folder;

  @Override
  protected int tokensPerWriter() {
    return 6; // Each is flushed to the disk three times.
  }

  @Override
  protected FencedCell cell(String name, FenceListener listener) {
    FencedFile file = FencedFile.at(folder.resolve(name)).listener(listener);
    return new FencedCell() {
      @Override
      public void write(String value, FencingToken token) {
        file.replace(value.getBytes(StandardCharsets.UTF_8), token);
      }

      @Override
      public String read() {
        return text(file.path());
      }
    };
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (NoSuchFileException e) {
      return "";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private List<String> unfinished(String name) throws IOException {
    try (Stream<Path> files = Files.list(folder.resolve("." + name + ".fence"))) {
      return files.map(f -> f.getFileName().toString()).filter(f -> f.endsWith(".new")).toList();
    }
  }

  private static FencingToken token(long value) {
    return FencingToken.exclusive(value);
  }

  @Test
  void writerThatFails_leavesTheOldFile_andNothingBeside() throws IOException {
    FencedFile file = FencedFile.at(folder.resolve("prices"));
    file.replace("old".getBytes(StandardCharsets.UTF_8), token(33));

    assertThatThrownBy(
            () ->
                file.replace(
                    out -> {
                      out.write('n');
                      throw new IOException("the source is gone");
                    },
                    token(34)))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("prices");

    assertThat(text(file.path())).isEqualTo("old");
    assertThat(unfinished("prices")).isEmpty();
    file.replace("new".getBytes(StandardCharsets.UTF_8), token(33)); // 34 has not passed.
  }

  @Test
  void marksWithATornLine_countOn() throws IOException {
    FencedFile file = FencedFile.at(folder.resolve("prices"));
    file.replace("of 33".getBytes(StandardCharsets.UTF_8), token(33));
    file.replace("of 34".getBytes(StandardCharsets.UTF_8), token(34));
    Path marks = folder.resolve(".prices.fence").resolve("marks");
    String lines = Files.readString(marks);
    assertThat(lines).contains(FenceMarks.digits(33)).contains(FenceMarks.digits(34));

    // A power failure while the line that is not the newest was being overwritten.
    Files.writeString(marks, "000garbage" + lines.substring(10));

    assertThatThrownBy(() -> file.replace(new byte[0], token(33)))
        .isInstanceOf(StaleTokenException.class);
    file.replace("of 35".getBytes(StandardCharsets.UTF_8), token(35));
    assertThatThrownBy(() -> file.replace(new byte[0], token(34)))
        .isInstanceOf(StaleTokenException.class);
  }

  @Test
  void damagedMarks_letNothingPass() throws IOException {
    FencedFile file = FencedFile.at(folder.resolve("prices"));
    file.replace("of 33".getBytes(StandardCharsets.UTF_8), token(33));
    file.replace("of 34".getBytes(StandardCharsets.UTF_8), token(34));
    Files.writeString(folder.resolve(".prices.fence").resolve("marks"), "x".repeat(98));

    assertThatThrownBy(() -> file.replace(new byte[0], token(99)))
        .hasRootCauseMessage(
            "the file 'marks', with the largest tokens that the fence has accepted, is damaged; restore it or the resource");
    assertThat(text(file.path())).isEqualTo("of 34");
  }

  @Test
  void readerWithASharedToken_keepsOlderWritersOut() {
    FencedFile file = FencedFile.at(folder.resolve("prices"));
    file.check(FencingToken.shared(40));

    assertThatThrownBy(() -> file.replace(new byte[0], token(39)))
        .isInstanceOf(StaleTokenException.class);
  }

  /** Shared tokens may overtake each other: only a newer writer takes the unfinished file away. */
  @Test
  void sharedToken_leavesTheUnfinishedFileOfASmallerOneAlone() throws IOException {
    FencedFile file = FencedFile.at(folder.resolve("prices"));
    file.replace("of 5".getBytes(StandardCharsets.UTF_8), token(5));
    Path left = folder.resolve(".prices.fence").resolve(FenceMarks.digits(4) + "-left.new");

    file.replace(
        out -> {
          Files.writeString(left, "by a process that has ended");
          file.replace("of 10".getBytes(StandardCharsets.UTF_8), FencingToken.shared(10));
          assertThat(unfinished("prices")).hasSize(1);
          out.write("of 8".getBytes(StandardCharsets.UTF_8));
        },
        FencingToken.shared(8));

    assertThat(text(file.path())).isEqualTo("of 8");
    assertThat(unfinished("prices")).isEmpty();
  }

  @Test
  void fileByTwoNames_hasOneFence() throws IOException {
    Path link = Files.createSymbolicLink(folder.resolve("link"), folder);
    FencedFile.at(folder.resolve("prices"))
        .replace("of 34".getBytes(StandardCharsets.UTF_8), token(34));

    assertThatThrownBy(() -> FencedFile.at(link.resolve("prices")).replace(new byte[0], token(33)))
        .isInstanceOf(StaleTokenException.class);
  }

  @Test
  void processStoppedWhileItWrites_isRefusedWhenItGoesOn_andItsPartsAreSweptAway()
      throws IOException {
    Path path = folder.resolve("prices");
    try (JavaProcess writer =
        JavaProcess.of(FileWriterProcess.class).argument(path.toString()).argument("33").start()) {
      writer.expect("half written", AMPLE);
      writer.pause();
      assertThat(writer.state()).isEqualTo(ProcessState.STOPPED);
      assertThat(unfinished("prices")).hasSize(1);

      FencedFile.at(path).replace("of 34".getBytes(StandardCharsets.UTF_8), token(34));
      assertThat(unfinished("prices")).isEmpty();
      writer.resume();
      writer.send("go on");

      assertThat(writer.expect("verdict", AMPLE)).isEqualTo("verdict refused by 34");
      assertThat(text(path)).isEqualTo("of 34");
    }
  }

  @Test
  void writer_waitsForOneThatIsAtItInAnotherProcess() throws Exception {
    FencedFile file = FencedFile.at(folder.resolve("prices"));
    file.replace("of 33".getBytes(StandardCharsets.UTF_8), token(33));
    try (JavaProcess other =
        JavaProcess.of(FileLockProcess.class).argument(marks().toString()).start()) {
      other.expect("locked", AMPLE);
      Thread writer =
          new Thread(() -> file.replace("of 34".getBytes(StandardCharsets.UTF_8), token(34)));
      writer.start();

      Eventually.until(AMPLE, "the writer to wait for the lock", () -> waitsForALock(writer));
      assertThat(text(file.path())).isEqualTo("of 33");
      other.send("go on");

      writer.join(AMPLE.toMillis());
      assertThat(text(file.path())).isEqualTo("of 34");
    }
  }

  private Path marks() throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(path -> path.endsWith("marks")).findFirst().orElseThrow();
    }
  }

  private static boolean waitsForALock(Thread thread) {
    return Stream.of(thread.getStackTrace())
        .anyMatch(frame -> frame.getMethodName().equals("lock0"));
  }
}
