package io.fenceline.bench.work;

import io.fenceline.bench.contender.Entrant;
import io.fenceline.bench.contender.Entrant.Discipline;
import io.fenceline.bench.store.Venue;
import io.fenceline.testbed.process.JavaProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Four processes of eight threads that all want the same name. */
public final class Fleet {
  /** How many processes. */
  public static final int PROCESSES = 4;

  /** How many threads each has. */
  public static final int THREADS = 8;

  private static final Duration BOUND = Duration.ofMinutes(2);
  private static final int HEAP_MEGABYTES = 192;

  private Fleet() {}

  /**
   * What one contender did.
   *
   * @param entrant who
   * @param perSecond cycles a second of all processes together, by round
   * @param shares what part of all cycles each process had, sorted
   * @param waits how long one waited for the lock
   * @param handOffs how long the lock took from one process to another
   */
  public record Result(
      Entrant entrant,
      List<Double> perSecond,
      List<Double> shares,
      Histogram waits,
      Histogram handOffs) {

    /** The median of the rounds. */
    public double median() {
      return Ratio.median(perSecond.stream().mapToDouble(Double::doubleValue).toArray());
    }

    /** How it compares to another one. */
    public Ratio ratioTo(Result other) {
      return Ratio.of(perSecond, other.perSecond);
    }

    /**
     * How far the largest share is above the mean, and the smallest below it, at most: 0.2 is 20 %.
     */
    public double imbalance() {
      double mean = 1.0 / shares.size();
      double low = 1 - shares.get(0) / mean;
      double high = shares.get(shares.size() - 1) / mean - 1;
      return Math.max(low, high);
    }
  }

  /** Sums of one contender. */
  private static final class Score {
    final Entrant entrant;
    final List<Double> perSecond = new ArrayList<>();
    final long[] cycles = new long[PROCESSES];
    final Histogram waits = new Histogram();
    final Histogram handOffs = new Histogram();

    Score(Entrant entrant) {
      this.entrant = entrant;
    }

    Result result() {
      double all = java.util.Arrays.stream(cycles).sum();
      List<Double> shares =
          java.util.Arrays.stream(cycles).mapToObj(c -> c / all).sorted().toList();
      return new Result(entrant, List.copyOf(perSecond), shares, waits, handOffs);
    }
  }

  /** Measures all contenders that can take part; the first is Fenceline. */
  public static List<Result> measure(
      String store, Venue venue, List<Entrant> all, Effort effort, Progress progress)
      throws Exception {
    List<Entrant> entrants =
        all.stream().filter(entrant -> entrant.takesPartIn(Discipline.FLEET)).toList();
    if (entrants.isEmpty()) {
      return List.of();
    }
    progress.begin("fleet");
    Path file =
        Files.write(Files.createTempFile("fenceline-fleet", ""), new byte[SharedGuard.BYTES]);
    List<JavaProcess> members = new ArrayList<>();
    try {
      List<String> ids = entrants.stream().map(Entrant::id).toList();
      for (int i = 0; i < PROCESSES; i++) {
        List<String> first =
            List.of(store, venue.address(), file.toString(), String.join(",", ids));
        members.add(Member.start(FleetMember.class, HEAP_MEGABYTES, first));
      }
      members.forEach(member -> member.expect("ready", BOUND));
      List<Score> scores = entrants.stream().map(Score::new).toList();
      for (Score score : scores) {
        turn(members, file, new Score(score.entrant), effort.settle().millis() * 4);
      }
      List<Score> order = new ArrayList<>(scores);
      for (int round = 0; round < effort.fleet().rounds(); round++) {
        for (Score score : order) {
          turn(members, file, score, effort.fleet().millis());
        }
        Collections.rotate(order, 1);
        progress.step();
      }
      progress.end();
      return scores.stream().map(Score::result).toList();
    } finally {
      members.forEach(JavaProcess::close);
      Files.deleteIfExists(file);
    }
  }

  private static void turn(List<JavaProcess> members, Path file, Score score, int millis)
      throws IOException {
    SharedGuard guard = new SharedGuard(file, 0);
    guard.reset();
    long start = System.nanoTime();
    long until = start + millis * 1_000_000L;
    String order = "run " + score.entrant.id() + " " + THREADS + " " + until + " 0 fleet";
    members.forEach(member -> member.send(order));
    long sum = 0;
    for (int i = 0; i < members.size(); i++) {
      String[] words = members.get(i).expect("done ", BOUND).split(" ", -1);
      long cycles = Long.parseLong(words[1]);
      sum += cycles;
      score.cycles[i] += cycles;
      score.waits.add(Histogram.parse(words[2]));
      score.handOffs.add(Histogram.parse(words[3]));
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    if (guard.count() != sum) {
      throw new BrokenLockException(
          score.entrant + ": " + sum + " cycles, but the shared counter says " + guard.count());
    }
    score.perSecond.add(sum / seconds);
  }
}
