package io.fenceline.bench.work;

import io.fenceline.bench.contender.Entrant.Discipline;
import io.fenceline.bench.contender.Entrant.Role;
import io.fenceline.bench.contender.Field;
import io.fenceline.bench.contender.Field.Player;
import io.fenceline.bench.store.Venue;
import io.fenceline.bench.work.Crew.Turn;
import io.fenceline.bench.work.Effort.Turns;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.ToDoubleFunction;

/**
 * Cycles per second of all contenders, in interleaved rounds: each has its turn in each round, in
 * another order each time, and ratios are taken within rounds.
 */
public final class Rates {
  /** Of the orders in which they have their turns; the same in each run. */
  private static final long ORDERS = 1;

  private final Venue venue;
  private final Field field;
  private final Effort effort;
  private final Progress progress;

  /** A contender, and what it has done so far. */
  private record Score(Player player, List<Turn> turns) {}

  /** Over contenders that are open, all of which have been at work for a while by then. */
  public Rates(Venue venue, Field field, Effort effort, Progress progress) {
    this.venue = venue;
    this.field = field;
    this.effort = effort;
    this.progress = progress;
  }

  /**
   * Has all contenders compiled: many threads go through more cycles than one in that time. What is
   * still compiled while it is measured costs whoever has more code.
   */
  public void warmUp() throws Exception {
    progress.begin("warm-up");
    Shape shape = new Shape("warm", "", Discipline.ALONE, 32, false, 0);
    try (Crew crew = new Crew(shape.threads(), venue::cpuNanos)) {
      for (Player player : field.in(shape.discipline())) {
        turn(crew, player, shape, effort.warmUpMillis());
        progress.step();
      }
    }
    progress.end();
  }

  /** Measures one work; the first series is Fenceline's. */
  public List<Series> measure(Shape shape) throws Exception {
    List<Score> scores =
        field.in(shape.discipline()).stream()
            .map(player -> new Score(player, new ArrayList<>()))
            .toList();
    progress.begin(shape.name());
    try (Crew crew = new Crew(shape.threads(), venue::cpuNanos)) {
      for (Score score : scores) {
        turn(crew, score.player, shape, effort.settleMillis());
      }
      List<Score> order = new ArrayList<>(scores);
      Random random = new Random(ORDERS);
      Turns turns = shape.discipline() == Discipline.ALONE ? effort.alone() : effort.hot();
      // What is done inside hardly differs from round to round.
      int rounds = shape.stayMillis() > 0 ? Math.min(3, turns.rounds()) : turns.rounds();
      for (int round = 0; round < rounds; round++) {
        Collections.shuffle(order, random);
        for (Score score : order) {
          score.turns.add(turn(crew, score.player, shape, turns.millis()));
        }
        progress.step();
      }
      List<Series> series = new ArrayList<>();
      for (Score score : scores) {
        series.add(series(crew, shape, score));
      }
      progress.end();
      return series;
    }
  }

  private static Turn turn(Crew crew, Player player, Shape shape, int millis) {
    // A turn is long enough for a few stays inside.
    long atLeast = Math.max(millis, shape.stayMillis() * 20L);
    try {
      return crew.run(player.contender(), shape::nameFor, shape.stayMillis() * 1_000_000L, atLeast);
    } catch (Exception e) {
      throw new IllegalStateException(player.entrant() + " failed in " + shape.name(), e);
    }
  }

  private Series series(Crew crew, Shape shape, Score score) throws Exception {
    boolean counts = score.player.entrant().role() != Role.LIMIT && shape.stayMillis() == 0;
    return new Series(
        score.player.entrant(),
        score.turns.stream().map(Turn::perSecond).toList(),
        microsPerCycle(score, Turn::cpuMicros),
        microsPerCycle(score, Turn::serverMicros),
        counts ? count(crew, shape, score.player) : List.of());
  }

  private static double microsPerCycle(Score score, ToDoubleFunction<Turn> micros) {
    long cycles = score.turns.stream().mapToLong(Turn::cycles).sum();
    return score.turns.stream().mapToDouble(micros).sum() / Math.max(1, cycles);
  }

  private List<Series.PerCycle> count(Crew crew, Shape shape, Player player) throws Exception {
    int each = Math.max(1, effort.wireCycles() / crew.size());
    Venue.Wire wire = venue.count();
    double cycles = crew.runCycles(player.contender(), shape::nameFor, each);
    return wire.stop().stream()
        .map(count -> new Series.PerCycle(count.kind(), count.total() / cycles))
        .toList();
  }
}
