package io.fenceline.recipes.ratelimit;

import static io.fenceline.recipes.ratelimit.Place.MARIADB;
import static io.fenceline.recipes.ratelimit.Place.POSTGRESQL;
import static io.fenceline.recipes.ratelimit.Place.REDIS;
import static io.fenceline.recipes.ratelimit.Place.SQLITE;
import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.testbed.process.JavaProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Eight processes ask for permits as fast as they can. */
class EightProcessesTest {
  /** {@code ./check --long} has ten. */
  private static final int SECONDS = Integer.getInteger("fenceline.ratelimit.seconds", 1);

  private static final boolean IS_LONG = SECONDS >= 10;

  /** Eight processes that get no processor can't use what they are allowed. */
  private static final boolean WAS_QUIET =
      loadAverage() < Runtime.getRuntime().availableProcessors();

  private static final int PROCESSES = 8;
  private static final int PERMITS = 100;
  private static final long SECOND_MICROS = 1_000_000;
  private static final Duration AMPLE = Duration.ofMinutes(3);

  /** What came of it. */
  private record Outcome(
      int taken, long questions, int fullestByTheStore, int certainlyFullest, double used) {}

  /** One run; the peers' are for the table in docs/recipes-ratelimit.md. */
  private record Run(String whose, Place place, boolean isSkewed) {}

  static List<Run> runs() {
    Run ours = new Run("fenceline", REDIS, true);
    return IS_LONG
        ? List.of(
            ours,
            new Run("fenceline", REDIS, false),
            new Run("redisson", REDIS, false),
            new Run("redisson", REDIS, true),
            new Run("bucket4j", REDIS, false),
            new Run("bucket4j", REDIS, true),
            new Run("fenceline", SQLITE, false),
            new Run("fenceline", POSTGRESQL, false),
            new Run("fenceline", MARIADB, false))
        : List.of(ours);
  }

  @ParameterizedTest
  @MethodSource("runs")
  void noSecond_hasMoreThanTheLimit_whateverAClientsClockSays(Run run) {
    assertThat(run.place.store()).isNotNull(); // Creates the table.
    Outcome outcome = run(run);
    assertThat(outcome.taken).as("more than one window").isGreaterThan(PERMITS);
    if (!run.whose.equals("fenceline")) {
      return; // What they promise is not this.
    }
    assertThat(outcome.fullestByTheStore).isLessThanOrEqualTo(PERMITS);
    assertThat(outcome.certainlyFullest).isLessThanOrEqualTo(PERMITS);
    if (IS_LONG && WAS_QUIET) {
      assertThat(outcome.used).isGreaterThanOrEqualTo(0.97);
    }
  }

  private static Outcome run(Run run) {
    List<JavaProcess> askers = new ArrayList<>();
    try {
      for (int i = 0; i < PROCESSES; i++) {
        askers.add(asker(run, run.isSkewed && i == 0));
      }
      if (run.isSkewed) {
        askers.get(0).clockOffset(Duration.ofSeconds(30));
      }
      askers.forEach(asker -> asker.expect("ready", AMPLE));
      askers.forEach(asker -> asker.send("go"));
      List<Long> times = new ArrayList<>();
      List<Windows.Span> spans = new ArrayList<>();
      long questions = 0;
      for (JavaProcess asker : askers) {
        String line = asker.expect("", AMPLE);
        for (; line.startsWith("took "); line = asker.expect("", AMPLE)) {
          String[] words = line.split(" ");
          spans.add(new Windows.Span(Long.parseLong(words[1]), Long.parseLong(words[2])));
          times.add(Long.parseLong(words[3]));
        }
        assertThat(line).startsWith("done ");
        questions += Long.parseLong(line.substring("done ".length()));
      }
      // Those of the first so many seconds: a process that has too few goes on.
      long first = spans.stream().mapToLong(Windows.Span::from).min().orElseThrow();
      long end = first + SECONDS * SECOND_MICROS;
      long inTime = spans.stream().filter(span -> span.from() < end).count();
      Outcome outcome =
          new Outcome(
              spans.size(),
              questions,
              Windows.fullest(times, SECOND_MICROS),
              Windows.certainlyFullest(spans, SECOND_MICROS),
              inTime / (double) (PERMITS * SECONDS));
      System.out.printf(
          "%s, %s%s: %d permits of %d questions in %d s, fullest second %d by the store's clock, at"
              + " least %d by the machine's, %.1f %% used%n",
          run.whose,
          run.place,
          run.isSkewed ? ", one clock 30 s ahead" : "",
          outcome.taken,
          outcome.questions,
          SECONDS,
          outcome.fullestByTheStore,
          outcome.certainlyFullest,
          outcome.used * 100);
      return outcome;
    } finally {
      askers.forEach(JavaProcess::close);
    }
  }

  /** Of the last minute, before this class began. */
  private static double loadAverage() {
    try {
      return Double.parseDouble(Files.readString(Path.of("/proc/loadavg")).split(" ")[0]);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static JavaProcess asker(Run run, boolean hasOwnClock) {
    JavaProcess.Builder asker =
        JavaProcess.of(Asker.class)
            .argument(run.whose)
            .argument(run.place.uri())
            .argument(run.whose + (run.isSkewed ? "-skewed" : ""))
            .argument(Integer.toString(PERMITS))
            .argument(Integer.toString(SECONDS))
            .argument(Integer.toString(PERMITS / 4))
            .jvmOption("-Dorg.slf4j.simpleLogger.defaultLogLevel=error")
            .heap(64);
    return (hasOwnClock ? asker.fakeTime() : asker).start();
  }
}
