package io.fenceline.bench.work;

import java.util.Arrays;
import java.util.List;

/**
 * How one contender compares to another: the median of the ratios within rounds, and an interval
 * that has the true one in it in 95 of 100 runs.
 *
 * <p>Turns of a round are next to each other, so a machine that is slow for a while disturbs ratios
 * less than it disturbs rates. The interval is that of the sign test: it lies between two of the
 * ratios themselves and asks nothing of how they are distributed.
 *
 * @param median the ratio
 * @param low the lower end of the interval
 * @param high its upper end
 */
public record Ratio(double median, double low, double high) {
  /** 1.96 deviations of how many ratios lie below the true one, each of which is √n / 2. */
  private static final double HALF_WIDTH = 0.98;

  /** Of the rounds that both took part in. */
  static Ratio of(List<Double> ours, List<Double> theirs) {
    double[] ratios = new double[Math.min(ours.size(), theirs.size())];
    for (int i = 0; i < ratios.length; i++) {
      ratios[i] = ours.get(i) / theirs.get(i);
    }
    Arrays.sort(ratios);
    int n = ratios.length;
    int first = Math.max(0, (int) Math.floor((n - 1) / 2.0 - HALF_WIDTH * Math.sqrt(n)));
    return new Ratio(median(ratios), ratios[first], ratios[n - 1 - first]);
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
