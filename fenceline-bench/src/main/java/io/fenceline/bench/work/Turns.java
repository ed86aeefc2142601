package io.fenceline.bench.work;

import io.fenceline.bench.contender.Entrant;
import io.fenceline.bench.contender.Entrant.Discipline;
import io.fenceline.bench.contender.Place;
import io.fenceline.bench.store.Venue;
import io.fenceline.testbed.process.JavaProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** Processes of one thread each that all want the same name: every hand-over is between two. */
public final class Turns {
  private static final Duration BOUND = Duration.ofMinutes(2);
  private static final int HEAP_MEGABYTES = 128;

  /** With more processes than this, only hand-overs are measured, with nothing inside. */
  private static final int MANY = 8;

  /** So many start together: they must not time out while they are still being compiled. */
  private static final int AT_ONCE = 4;

  /**
   * Compilers that take less than this part of one processor, all of them together, are at rest.
   */
  private static final double CALM = 0.03;

  private static final List<Integer> STAYS_MILLIS = List.of(0, 1, 10);

  private Turns() {}

  /**
   * Who takes turns, and for how long.
   *
   * @param processes how many, of one thread each
   * @param stayMillis how long each stays inside
   */
  public record Crowd(int processes, int stayMillis) {
    /** In words. */
    public String title() {
      String inside = stayMillis == 0 ? "nothing" : stayMillis + " ms";
      return "turns: " + processes + " processes × 1 thread, one name, " + inside + " inside";
    }
  }

  /**
   * What one contender did.
   *
   * @param entrant who
   * @param perSecond cycles a second of all processes together, by round
   * @param shares what part of all cycles each process had, sorted
   * @param waits how long one waited for the lock
   * @param handOvers from the beginning of a release in one process to the lock in another
   * @param clientMicros CPU time of all clients, a cycle
   * @param serverMicros CPU time of the server, a cycle
   * @param perHandOver what came over the wire, a hand-over
   */
  public record Result(
      Entrant entrant,
      List<Double> perSecond,
      List<Double> shares,
      Histogram waits,
      Histogram handOvers,
      double clientMicros,
      double serverMicros,
      List<Series.PerCycle> perHandOver) {

    /** The median of the rounds. */
    public double median() {
      return Ratio.median(perSecond.stream().mapToDouble(Double::doubleValue).toArray());
    }

    /** How it compares to another one. */
    public Ratio ratioTo(Result other) {
      return Ratio.of(perSecond, other.perSecond);
    }

    /** How it compares to a rate that was measured in other rounds. */
    public Ratio ratioTo(double rate) {
      return Ratio.of(perSecond, Collections.nCopies(perSecond.size(), rate));
    }
  }

  /**
   * A crowd, and what each contender did in it, Fenceline first.
   *
   * @param crowd who took turns
   * @param results of each contender
   */
  public record Table(Crowd crowd, List<Result> results) {}

  /** Sums of one contender. */
  private static final class Score {
    final Entrant entrant;
    final List<Double> perSecond = new ArrayList<>();
    final long[] cycles;
    final Histogram waits = new Histogram();
    final Histogram handOvers = new Histogram();
    double clientMicros;
    double serverMicros;
    List<Series.PerCycle> perHandOver = List.of();

    Score(Entrant entrant, int processes) {
      this.entrant = entrant;
      this.cycles = new long[processes];
    }

    Result result() {
      double all = Math.max(1, Arrays.stream(cycles).sum());
      List<Double> shares = Arrays.stream(cycles).mapToObj(c -> c / all).sorted().toList();
      return new Result(
          entrant,
          List.copyOf(perSecond),
          shares,
          waits,
          handOvers,
          clientMicros / all,
          serverMicros / all,
          perHandOver);
    }
  }

  /** The processes of one size of a crowd. */
  private static final class Members implements AutoCloseable {
    final List<JavaProcess> processes = new ArrayList<>();
    final Path file;
    final Venue venue;

    Members(String store, Venue venue, List<Entrant> entrants, int count) throws IOException {
      this.venue = venue;
      this.file =
          Files.write(Files.createTempFile("fenceline-turns", ""), new byte[SharedGuard.BYTES]);
      try {
        int ready = 0;
        String ids = String.join(",", entrants.stream().map(Entrant::id).toList());
        for (int i = 0; i < count; i++) {
          processes.add(
              Member.start(
                  FleetMember.class,
                  HEAP_MEGABYTES,
                  List.of(store, venue.address(), file.toString(), ids),
                  new Place(i, count).option()));
          if ((i + 1) % AT_ONCE == 0 || i + 1 == count) {
            processes.subList(ready, i + 1).forEach(member -> member.expect("ready", BOUND));
            ready = i + 1;
          }
        }
      } catch (Throwable e) {
        close();
        throw e;
      }
    }

    /**
     * Has a contender compiled, until its compilers were at rest twice in a row. Each process has a
     * fraction of all cycles, so that takes longer than in one process; what is still compiled
     * while it is measured costs whoever has more code.
     */
    void warmUp(Entrant entrant, Effort.Turns atMost) throws IOException {
      Crowd crowd = new Crowd(processes.size(), 0);
      int calm = 0;
      for (int i = 0; i < atMost.rounds() && calm < 2; i++) {
        long compiled = turn(new Score(entrant, crowd.processes()), crowd, atMost.millis());
        calm = compiled < CALM * atMost.millis() ? calm + 1 : 0;
      }
    }

    /** Returns how long all compilers were at work, in milliseconds. */
    long turn(Score score, Crowd crowd, int millis) throws IOException {
      SharedGuard guard = new SharedGuard(file, 0);
      guard.reset();
      long serverBefore = venue.cpuNanos();
      long start = System.nanoTime();
      String order =
          "run %s 1 %d %d turns-%d"
              .formatted(
                  score.entrant.id(),
                  start + millis * 1_000_000L,
                  crowd.stayMillis() * 1_000_000L,
                  crowd.processes());
      processes.forEach(member -> member.send(order));
      long sum = 0;
      long compilerMillis = 0;
      for (int i = 0; i < processes.size(); i++) {
        String[] words = processes.get(i).expect("done ", BOUND).split(" ", -1);
        long cycles = Long.parseLong(words[1]);
        sum += cycles;
        score.cycles[i] += cycles;
        score.waits.add(Histogram.parse(words[2]));
        score.handOvers.add(Histogram.parse(words[3]));
        score.clientMicros += Double.parseDouble(words[4]);
        compilerMillis += Long.parseLong(words[5]);
      }
      // Until someone was last inside: what follows is the end of the turn, not of a cycle.
      double seconds = Math.max(1, guard.leftNanos() - start) / 1e9;
      score.serverMicros += (venue.cpuNanos() - serverBefore) / 1e3;
      if (guard.count() != sum) {
        throw new BrokenLockException(
            score.entrant + ": " + sum + " cycles, but the shared counter says " + guard.count());
      }
      score.perSecond.add(sum / seconds);
      return compilerMillis;
    }

    List<Series.PerCycle> count(Entrant entrant, Crowd crowd, int millis) throws IOException {
      Score counted = new Score(entrant, crowd.processes());
      Venue.Wire wire = venue.count();
      turn(counted, crowd, millis);
      double handOvers = Math.max(1, counted.handOvers.count());
      return wire.stop().stream()
          .map(count -> new Series.PerCycle(count.kind(), count.total() / handOvers))
          .toList();
    }

    @Override
    public void close() {
      processes.forEach(JavaProcess::close);
      try {
        Files.deleteIfExists(file);
      } catch (IOException e) {
        // It is in a folder for what is left behind.
      }
    }
  }

  /** Measures all contenders that can take part; the first is Fenceline. */
  public static List<Table> measure(
      String store, Venue venue, List<Entrant> all, Effort effort, Progress progress)
      throws Exception {
    List<Entrant> entrants =
        all.stream().filter(entrant -> entrant.takesPartIn(Discipline.TURNS)).toList();
    List<Table> tables = new ArrayList<>();
    if (entrants.isEmpty()) {
      return tables;
    }
    for (int processes : effort.crowds()) {
      progress.begin("turns × " + processes);
      try (Members members = new Members(store, venue, entrants, processes)) {
        for (Entrant entrant : entrants) {
          members.warmUp(entrant, effort.warmUp());
          progress.step();
        }
        for (int stay : processes > MANY ? List.of(0) : STAYS_MILLIS) {
          tables.add(measure(members, entrants, new Crowd(processes, stay), effort, progress));
        }
      }
      progress.end();
    }
    return tables;
  }

  private static Table measure(
      Members members, List<Entrant> entrants, Crowd crowd, Effort effort, Progress progress)
      throws IOException {
    List<Score> scores =
        entrants.stream().map(entrant -> new Score(entrant, crowd.processes())).toList();
    List<Score> order = new ArrayList<>(scores);
    for (int round = 0; round < effort.turns().rounds(); round++) {
      for (Score score : order) {
        members.turn(score, crowd, effort.turns().millis());
      }
      Collections.rotate(order, 1);
      progress.step();
    }
    if (crowd.stayMillis() == 0) {
      for (Score score : scores) {
        score.perHandOver = members.count(score.entrant, crowd, effort.turns().millis());
      }
    }
    return new Table(crowd, scores.stream().map(Score::result).toList());
  }
}
