package io.fenceline.cli.exporter;

import io.fenceline.diagnosis.LockReport;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Figures of all locks of a store, by group: the part of a name before its first {@code :}, {@code
 * /} or {@code .}, as the library's meters have it. There are at most {@value #MOST_GROUPS} groups
 * and {@value #OTHER}, however many names there are; a group that was met stays one.
 */
public final class StoreFigures {
  /** How many groups there are at most, without {@link #OTHER}. */
  public static final int MOST_GROUPS = 100;

  /** The group of everything else. */
  public static final String OTHER = "other";

  private static final String SEPARATORS = ":/.";

  private final Set<String> met = new HashSet<>();

  /**
   * The figures of one group.
   *
   * @param namesHeld names that somebody holds
   * @param holders of these; more where a lock is shared
   * @param waiting processes that wait
   * @param longestHold how long the oldest of the holders has held its name
   * @param oldestWait how long the first of those who wait has waited
   */
  public record Group(
      long namesHeld, long holders, long waiting, Duration longestHold, Duration oldestWait) {
    static final Group NONE = new Group(0, 0, 0, Duration.ZERO, Duration.ZERO);

    Group with(LockReport report, Instant now) {
      Duration hold = longestHold;
      for (LockReport.Holder holder : report.holders()) {
        hold = longer(hold, Duration.between(holder.since(), now));
      }
      Duration wait = oldestWait;
      for (LockReport.Waiter waiter : report.waiters()) {
        wait = longer(wait, Duration.between(waiter.since(), now));
      }
      return new Group(
          namesHeld + (report.isFree() ? 0 : 1),
          holders + report.holders().size(),
          waiting + report.waiters().size(),
          hold,
          wait);
    }

    private static Duration longer(Duration one, Duration other) {
      return one.compareTo(other) < 0 ? other : one;
    }
  }

  /**
   * The figures of all groups that have been met, also of those that have no lock now.
   *
   * @param now the time that ages count to; by the store's clock, if that differs from ours
   */
  public synchronized Map<String, Group> of(List<LockReport> reports, Instant now) {
    Map<String, Group> groups = new TreeMap<>();
    met.forEach(group -> groups.put(group, Group.NONE));
    for (LockReport report : reports) {
      String group = groupOf(report.name());
      groups.put(group, groups.getOrDefault(group, Group.NONE).with(report, now));
    }
    return groups;
  }

  private String groupOf(String name) {
    for (int end = 1; end < name.length(); end++) {
      if (SEPARATORS.indexOf(name.charAt(end)) >= 0) {
        String group = name.substring(0, end);
        boolean isGroup = met.contains(group) || (met.size() < MOST_GROUPS && met.add(group));
        return isGroup ? group : OTHER;
      }
    }
    return OTHER;
  }
}
