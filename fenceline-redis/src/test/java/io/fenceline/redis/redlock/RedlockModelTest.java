package io.fenceline.redis.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Checks the model of Redlock with TLC: as it is built, no state breaks an invariant; with any one
 * of its parts taken away, one does. The traces are explained in {@code
 * docs/design/0011-redlock.md}. Runs of more than a few seconds are made with {@code
 * -Dfenceline.model.all=true}, as {@code ./check --long} does.
 *
 * <p>It computes while other tests wait, with what they leave of the processors.
 */
@Execution(ExecutionMode.CONCURRENT)
class RedlockModelTest {
  private static final boolean ALL = Boolean.getBoolean("fenceline.model.all");
  private static final Path MODEL = Paths.get("src", "test", "tla").toAbsolutePath();
  private static final Pattern STATES =
      Pattern.compile("([0-9]+) states generated, ([0-9]+) distinct states found");

  @TempDir Path temp;

  /** What TLC has printed, and its figures. */
  private record Outcome(String output, long distinct) {}

  @TestFactory
  @Execution(ExecutionMode.SAME_THREAD) // Each has a JVM of its own, of this size.
  Stream<DynamicTest> asBuilt_noStateBreaksAnInvariant() {
    Stream<String> quick = Stream.of("AsBuiltJumping");
    Stream<String> large =
        Stream.of(
            "AsBuiltLosing",
            "AsBuiltRetrying",
            "AsBuiltRestarting",
            "AsBuiltLate",
            "AsBuiltLonger",
            "AsBuiltForced",
            "AsBuiltRenewing",
            "AsBuiltRenewingRestarted",
            "AsBuiltRenewingRestartedAlways",
            "AsBuiltLongerAlways",
            "AsBuiltGuessing",
            "AsBuiltClosing",
            "AsBuiltRestartingLonger",
            "AsBuiltRestartingTwice");
    return (ALL ? Stream.concat(quick, large) : quick)
        .map(
            name ->
                DynamicTest.dynamicTest(
                    name,
                    () -> {
                      Outcome outcome = check(name);
                      assertThat(outcome.output)
                          .contains("Model checking completed. No error has been found.");
                      assertThat(outcome.distinct).isGreaterThan(10_000);
                    }));
  }

  @TestFactory
  @Execution(ExecutionMode.SAME_THREAD) // Each has a JVM of its own, of this size.
  Stream<DynamicTest> withoutAnyPart_anInvariantBreaks() {
    Map<String, String> broken =
        new TreeMap<>(
            Map.of(
                "OneRound", "TokensRise",
                "NothingStored", "Readmittable"));
    if (ALL) {
      broken.put("VotesAtOnce", "OneHolder");
      broken.put("ForcedInPart", "ForceIsHeard");
      broken.put("OlderMemory", "ForceIsHeard"); // As ForcedInPart, that of AsBuiltForced.
      broken.put("AnyMajority", "TokensRiseInOrder");
      broken.put("NoUndo", "Obtainable");
      broken.put("NoValidityCheck", "OneHolder");
      broken.put("UnnamedAttempts", "OneHolder");
      broken.put("NeglectedNode", "OneHolder");
      broken.put("BelievedLate", "NoneComesBack"); // The broken twin of AsBuiltRenewing.
      broken.put("WhatIsLeft", "OneHolder"); // That of AsBuiltRenewingRestarted.
      broken.put("LongerOnce", "OneHolder"); // That of AsBuiltLonger.
      broken.put("FirstGuess", "OneHolder"); // That of AsBuiltGuessing.
      broken.put("ClosedOnce", "StaysClosed"); // That of AsBuiltClosing.
    }
    return broken.entrySet().stream()
        .map(
            variant ->
                DynamicTest.dynamicTest(
                    variant.getKey(),
                    () ->
                        assertThat(check(variant.getKey()).output)
                            .contains("Invariant " + variant.getValue() + " is violated.")));
  }

  private Outcome check(String name) throws Exception {
    Process tlc =
        new ProcessBuilder(
                List.of(
                    "nice",
                    "-n",
                    "5",
                    Paths.get(System.getProperty("java.home"), "bin", "java").toString(),
                    "-XX:+UseParallelGC",
                    "-Xmx768m",
                    "-Djava.io.tmpdir=" + temp,
                    "-cp",
                    jar(),
                    "tlc2.TLC",
                    "-workers",
                    "2",
                    "-metadir",
                    temp.resolve(name).toString(),
                    "-config",
                    MODEL.resolve(name + ".cfg").toString(),
                    MODEL.resolve("Redlock.tla").toString()))
            .directory(temp.toFile())
            .redirectErrorStream(true)
            .start();
    try {
      String output = new String(tlc.getInputStream().readAllBytes());
      long distinct = 0;
      Matcher figures = STATES.matcher(output);
      while (figures.find()) {
        distinct = Long.parseLong(figures.group(2));
      }
      System.out.println(name + ": " + distinct + " distinct states");
      return new Outcome(output, distinct);
    } finally {
      tlc.destroyForcibly();
    }
  }

  private static String jar() throws IOException {
    try {
      return Path.of(
              Class.forName("tlc2.TLC").getProtectionDomain().getCodeSource().getLocation().toURI())
          .toString();
    } catch (ReflectiveOperationException | java.net.URISyntaxException e) {
      throw new IOException("the model checker is not on the class path", e);
    }
  }
}
