package io.fenceline.bench.work;

import io.fenceline.bench.contender.Entrant;
import io.fenceline.bench.contender.Entrant.Discipline;
import io.fenceline.bench.contender.Entrant.Role;
import io.fenceline.bench.store.Venue;
import io.fenceline.bench.work.Effort.Turns;
import io.fenceline.testbed.process.JavaProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.ToDoubleFunction;

/**
 * Cycles per second of all contenders, in interleaved rounds: each has its turn in each round, in
 * another order each time, and ratios are taken within rounds.
 *
 * <p>Each contender has a process of its own, as it has in an application. In one process they
 * share the classes of their drivers, and the compiler makes of these what suits all of them
 * together: the same lock was measured at 0.77 and at 0.9 of the floor, by who else was there.
 */
public final class Rates implements AutoCloseable {
  private static final int HEAP_MEGABYTES = 512;
  private static final Duration BOUND = Duration.ofMinutes(2);

  /** A compiler that takes less than this of the time is at rest. */
  private static final double CALM = 0.03;

  /** Of the orders in which they have their turns; the same in each run. */
  private static final long ORDERS = 1;

  private final Venue venue;
  private final Effort effort;
  private final Progress progress;
  private final List<Player> players = new ArrayList<>();

  /** A contender, and the process that it has to itself. */
  private record Player(Entrant entrant, JavaProcess process) {}

  /** A contender, and what it has done so far in a work. */
  private record Score(Player player, List<Turn> turns) {}

  /** What a turn gave; CPU times are those of all its cycles together. */
  private record Turn(
      long cycles,
      double seconds,
      double clientMicros,
      double serverMicros,
      double compilerMicros) {

    double perSecond() {
      return cycles / seconds;
    }

    boolean isCalm() {
      return compilerMicros < CALM * 1e6 * seconds;
    }
  }

  private Rates(Venue venue, Effort effort, Progress progress) {
    this.venue = venue;
    this.effort = effort;
    this.progress = progress;
  }

  /** Starts a process for each contender that has something to do in these works. */
  public static Rates open(
      String store,
      Venue venue,
      List<Entrant> entrants,
      List<Shape> works,
      Effort effort,
      Progress progress) {
    Rates rates = new Rates(venue, effort, progress);
    try {
      for (Entrant entrant : entrants) {
        if (works.stream().anyMatch(work -> entrant.takesPartIn(work.discipline()))) {
          List<String> first = List.of(store, venue.address(), entrant.id());
          JavaProcess process = Member.start(Racer.class, HEAP_MEGABYTES, first);
          rates.players.add(new Player(entrant, process));
        }
      }
      rates.players.forEach(player -> player.process.expect("ready", BOUND));
      return rates;
    } catch (Throwable e) {
      rates.close();
      throw e;
    }
  }

  /**
   * Has all contenders compiled: many threads go through more cycles than one in that time. What is
   * still compiled while it is measured costs whoever has more code: us, beside the bare requests.
   */
  public void warmUp() {
    progress.begin(Shape.WARM_UP.name());
    for (Player player : in(Shape.WARM_UP)) {
      warmUp(player, Shape.WARM_UP, effort.warmUp());
      progress.step();
    }
    progress.end();
  }

  /** Until the compiler was at rest twice in a row. */
  private void warmUp(Player player, Shape shape, Turns atMost) {
    int calm = 0;
    for (int i = 0; i < atMost.rounds() && calm < 2; i++) {
      calm = turn(player, shape, atMost.millis()).isCalm() ? calm + 1 : 0;
    }
  }

  private List<Player> in(Shape shape) {
    return players.stream().filter(p -> p.entrant.takesPartIn(shape.discipline())).toList();
  }

  /** Measures one work; the first series is Fenceline's. */
  public List<Series> measure(Shape shape) throws Exception {
    List<Score> scores =
        in(shape).stream().map(player -> new Score(player, new ArrayList<>())).toList();
    progress.begin(shape.name());
    for (Score score : scores) {
      warmUp(score.player, shape, effort.settle());
    }
    List<Score> order = new ArrayList<>(scores);
    Random random = new Random(ORDERS);
    Turns turns = shape.discipline() == Discipline.ALONE ? effort.alone() : effort.hot();
    // What is done inside hardly differs from round to round.
    int rounds = shape.stayMillis() > 0 ? Math.min(3, turns.rounds()) : turns.rounds();
    for (int round = 0; round < rounds; round++) {
      Collections.shuffle(order, random);
      for (Score score : order) {
        score.turns.add(turn(score.player, shape, turns.millis()));
      }
      progress.step();
    }
    List<Series> series = new ArrayList<>();
    for (Score score : scores) {
      series.add(series(shape, score));
    }
    progress.end();
    return series;
  }

  private Turn turn(Player player, Shape shape, int millis) {
    // A turn is long enough for a few stays inside.
    long atLeast = Math.max(millis, shape.stayMillis() * 20L);
    player.process.send("run " + shape.id() + " " + atLeast);
    player.process.expect("going", BOUND);
    long server = venue.cpuNanos();
    String[] words = player.process.expect("done ", BOUND).split(" ", -1);
    return new Turn(
        Long.parseLong(words[1]),
        Double.parseDouble(words[2]),
        Double.parseDouble(words[3]),
        (venue.cpuNanos() - server) / 1e3,
        Double.parseDouble(words[4]));
  }

  private Series series(Shape shape, Score score) throws Exception {
    boolean counts = score.player.entrant.role() != Role.LIMIT && shape.stayMillis() == 0;
    return new Series(
        score.player.entrant,
        score.turns.stream().map(Turn::perSecond).toList(),
        microsPerCycle(score, Turn::clientMicros),
        microsPerCycle(score, Turn::serverMicros),
        counts ? count(shape, score.player) : List.of());
  }

  private static double microsPerCycle(Score score, ToDoubleFunction<Turn> micros) {
    long cycles = score.turns.stream().mapToLong(Turn::cycles).sum();
    return score.turns.stream().mapToDouble(micros).sum() / Math.max(1, cycles);
  }

  private List<Series.PerCycle> count(Shape shape, Player player) throws Exception {
    int each = Math.max(1, effort.wireCycles() / shape.threads());
    Venue.Wire wire = venue.count();
    player.process.send("count " + shape.id() + " " + each);
    double cycles = Long.parseLong(player.process.expect("done ", BOUND).split(" ", -1)[1]);
    return wire.stop().stream()
        .map(count -> new Series.PerCycle(count.kind(), count.total() / cycles))
        .toList();
  }

  @Override
  public void close() {
    players.forEach(player -> player.process.close());
  }
}
