package io.fenceline.recipes.ratelimit;

import static io.fenceline.recipes.ratelimit.Place.MARIADB;
import static io.fenceline.recipes.ratelimit.Place.POSTGRESQL;
import static io.fenceline.recipes.ratelimit.Place.REDIS;
import static io.fenceline.recipes.ratelimit.Place.SQLITE;
import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.testkit.server.JavaProcess;
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
            new Run("fenceline", SQLITE, false),
            new Run("fenceline", POSTGRESQL, false),
            new Run("fenceline", MARIADB, false),
            new Run("redisson", REDIS, false),
            new Run("redisson", REDIS, true),
            new Run("bucket4j", REDIS, false),
            new Run("bucket4j", REDIS, true))
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
    if (IS_LONG) {
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
      long first = spans.stream().mapToLong(Windows.Span::from).min().orElseThrow();
      long last = spans.stream().mapToLong(Windows.Span::to).max().orElseThrow();
      double periods = Math.ceil((last - first) / (double) SECOND_MICROS);
      Outcome outcome =
          new Outcome(
              spans.size(),
              questions,
              Windows.fullest(times, SECOND_MICROS),
              Windows.certainlyFullest(spans, SECOND_MICROS),
              spans.size() / (PERMITS * Math.max(periods, SECONDS)));
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
