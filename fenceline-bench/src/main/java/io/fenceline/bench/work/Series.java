package io.fenceline.bench.work;

import io.fenceline.bench.contender.Entrant;
import java.util.List;

/**
 * What one contender did in one work.
 *
 * @param entrant who
 * @param perSecond cycles a second, by round
 * @param cpuMicros CPU time of the client for one cycle
 * @param serverMicros likewise of the server
 * @param perCycle what one cycle sends, such as {@code 2.0 commands}
 */
public record Series(
    Entrant entrant,
    List<Double> perSecond,
    double cpuMicros,
    double serverMicros,
    List<PerCycle> perCycle) {

  /**
   * What one cycle sends.
   *
   * @param kind of what
   * @param amount how much
   */
  public record PerCycle(String kind, double amount) {}

  /** The median of the rounds. */
  public double median() {
    return Ratio.median(perSecond.stream().mapToDouble(Double::doubleValue).toArray());
  }

  /** How it compares to another one. */
  public Ratio ratioTo(Series other) {
    return Ratio.of(perSecond, other.perSecond);
  }
}
