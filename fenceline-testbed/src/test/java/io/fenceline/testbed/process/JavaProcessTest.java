package io.fenceline.testbed.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.testkit.Eventually;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JavaProcessTest {

  private static final Duration BOUND = Duration.ofSeconds(20);

  @Test
  void talksInLines_andEndsWithAStatus() {
    try (JavaProcess echo =
        JavaProcess.of(Echo.class).argument("hello").jvmOption("-Dgreeting=good").start()) {
      assertThat(echo.expect("ready", BOUND)).isEqualTo("ready good hello");
      echo.send("say one");
      echo.send("say two");
      assertThat(echo.expect("two", BOUND)).isEqualTo("two");

      echo.send("end 7");
      assertThat(echo.awaitExit(BOUND)).isEqualTo(7);
    }
  }

  @Test
  void linesThatMayComeInEitherOrder_areFoundInBoth() {
    try (JavaProcess echo = JavaProcess.of(Echo.class).argument("x").start()) {
      echo.expect("ready", BOUND);
      for (String line : List.of("one 1", "two 1", "other", "two 2", "one 2")) {
        echo.send("say " + line);
      }

      assertThat(echo.expectAll(BOUND, "one", "two")).containsExactly("one 1", "two 1");
      assertThat(echo.expectAll(BOUND, "one", "two")).containsExactly("one 2", "two 2");
      echo.send("say one 3");
      echo.send("end 0");
      assertThatThrownBy(() -> echo.expectAll(BOUND, "one", "two"))
          .hasMessageContaining("did not print 'two' before it ended");
    }
  }

  @Test
  void whatWasExpectedInVain_comesWithWhatWasPrintedInstead() {
    try (JavaProcess echo = JavaProcess.of(Echo.class).argument("x").start()) {
      echo.expect("ready", BOUND);
      echo.send("say no");
      echo.send("grumble about it");
      echo.send("end 1");

      assertThatThrownBy(() -> echo.expect("yes", BOUND))
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("did not print 'yes' before it ended")
          .hasMessageContaining("[no]")
          .hasMessageContaining("about it");
      assertThatThrownBy(() -> echo.expect("more", BOUND)).hasMessageContaining("before it ended");
    }
  }

  @Test
  void aPausedProcessIsStopped_andSilent() {
    try (JavaProcess echo = JavaProcess.of(Echo.class).argument("x").start()) {
      echo.expect("ready", BOUND);
      echo.pause();
      assertThat(echo.state()).isEqualTo(ProcessState.STOPPED);
      echo.send("say again");
      assertThatThrownBy(() -> echo.expect("again", Duration.ofMillis(200)))
          .hasMessageContaining("within PT0.2S");

      echo.resume();
      assertThat(echo.expect("again", BOUND)).isEqualTo("again");
      echo.kill();
      assertThat(echo.state()).isEqualTo(ProcessState.GONE);
    }
  }

  @Test
  void aPausedProcessKeepsNobodyOutOfAFile_unlessThatIsWanted(@TempDir Path folder)
      throws IOException {
    Path file = Files.createFile(folder.resolve("file"));
    try (JavaProcess echo = JavaProcess.of(Echo.class).argument("x").start();
        FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      echo.expect("ready", BOUND);
      echo.send("lock-again-and-again " + file);
      echo.expect("locking", BOUND);
      for (int i = 0; i < 20; i++) {
        echo.pause();
        try (FileLock lock = channel.tryLock()) {
          assertThat(lock).isNotNull();
        }
        echo.resume();
      }
      Eventually.until(
          BOUND,
          "it to be stopped while it has the file",
          () -> {
            echo.resume();
            echo.pauseAnywhere();
            try (FileLock lock = channel.tryLock()) {
              return lock == null;
            }
          });
    }
  }

  @Test
  void itsWallClockCanBeSet_andItsMonotonicClockStays() {
    try (JavaProcess echo = JavaProcess.of(Echo.class).argument("x").fakeTime().start()) {
      echo.expect("ready", BOUND);
      Clocks before = clocks(echo);
      echo.clockOffset(Duration.ofHours(1));
      // A thread that has read the offset before may still overwrite the new one, once.
      Clocks after =
          Eventually.until(
              BOUND,
              "the clock to be set",
              () -> clocks(echo),
              now -> now.wallMillis - before.wallMillis >= 3_600_000);

      assertThat(after.wallMillis - before.wallMillis).isLessThan(3_640_000);
      assertThat(after.monotonicNanos - before.monotonicNanos).isBetween(0L, 40_000_000_000L);
    }
  }

  private record Clocks(long wallMillis, long monotonicNanos) {}

  private static Clocks clocks(JavaProcess echo) {
    echo.send("clocks");
    String[] answer = echo.expect("clocks", BOUND).split(" ");
    return new Clocks(Long.parseLong(answer[1]), Long.parseLong(answer[2]));
  }

  static final class Echo {
    public static void main(String[] args) throws IOException {
      System.out.println("ready " + System.getProperty("greeting") + " " + args[0]);
      BufferedReader in =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String[] words = line.split(" ", 2);
        switch (words[0]) {
          case "say" -> System.out.println(words[1]);
          case "grumble" -> System.err.println(words[1]);
          case "clocks" ->
              System.out.println("clocks " + System.currentTimeMillis() + " " + System.nanoTime());
          case "lock-again-and-again" -> {
            try (FileChannel file = FileChannel.open(Path.of(words[1]), StandardOpenOption.WRITE)) {
              System.out.println("locking");
              while (file.isOpen()) { // Until it is killed.
                file.lock().release();
              }
            }
          }
          case "end" -> System.exit(Integer.parseInt(words[1]));
          default -> throw new IllegalArgumentException(line);
        }
      }
    }
  }
}
