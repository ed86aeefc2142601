package io.fenceline.bench.work;

import io.fenceline.bench.contender.Entrant;
import java.util.Arrays;
import java.util.List;

/**
 * What one contender did in one work.
 *
 * @param entrant who
 * @param perSecond cycles a second, by round
 * @param cpuMicros CPU time of the client for one cycle, median
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
    return median(perSecond.stream().mapToDouble(Double::doubleValue).toArray());
  }

  /**
   * The median of the ratios to another one's round of the same time, which a machine that is slow
   * for a while disturbs less than a ratio of medians.
   */
  public double ratioTo(Series other) {
    double[] ratios = new double[Math.min(perSecond.size(), other.perSecond.size())];
    for (int i = 0; i < ratios.length; i++) {
      ratios[i] = perSecond.get(i) / other.perSecond.get(i);
    }
    return median(ratios);
  }

  static double median(double[] values) {
    if (values.length == 0) {
      return Double.NaN;
    }
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
