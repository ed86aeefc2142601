package io.fenceline.cli.text;

import io.fenceline.diagnosis.LockReport;
import io.fenceline.settings.Durations;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Shows who holds and who waits: as tables for people, as maps for JSON. */
public final class Reports {
  private Reports() {}

  /** One row a holder; a name that is only waited for has a row of its own. */
  public static Table table(List<LockReport> reports, Instant now) {
    Table table = new Table("NAME", "HOLDER", "MODE", "TOKEN", "AGE", "LEFT", "WAITERS");
    for (LockReport report : reports) {
      String waiters = String.valueOf(report.waiters().size());
      if (report.isFree()) {
        table.row(report.name(), "-", "-", "-", "-", "-", waiters);
      }
      for (LockReport.Holder holder : report.holders()) {
        table.row(
            report.name(),
            holder.label(),
            holder.mode(),
            String.valueOf(holder.token()),
            age(holder.since(), now),
            Durations.show(wholeSeconds(holder.remaining())),
            waiters);
      }
    }
    return table;
  }

  /** All about one name. */
  public static Table waiters(LockReport report, Instant now) {
    Table table = new Table("WAITER", "HOST", "PID", "MODE", "SINCE");
    for (LockReport.Waiter waiter : report.waiters()) {
      table.row(
          waiter.label(),
          waiter.host(),
          String.valueOf(waiter.pid()),
          waiter.mode(),
          age(waiter.since(), now));
    }
    return table;
  }

  /** By the store's clock and ours; where they differ, an age is never below zero. */
  private static String age(Instant since, Instant now) {
    Duration age = Duration.between(since, now);
    return Durations.show(age.isNegative() ? Duration.ZERO : wholeSeconds(age));
  }

  private static Duration wholeSeconds(Duration duration) {
    return duration.toSeconds() < 1 ? duration : Duration.ofSeconds(duration.toSeconds());
  }

  public static Map<String, Object> json(LockReport report) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("name", report.name());
    map.put("holders", report.holders().stream().map(Reports::json).toList());
    map.put("waiters", report.waiters().stream().map(Reports::json).toList());
    return map;
  }

  private static Map<String, Object> json(LockReport.Holder holder) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("id", holder.id());
    map.put("label", holder.label());
    map.put("host", holder.host());
    map.put("pid", holder.pid());
    map.put("mode", holder.mode());
    // As text: some stores have tokens beyond 2^53, which many readers of JSON would round.
    map.put("token", String.valueOf(holder.token()));
    map.put("since", holder.since().toString());
    map.put("remainingMillis", holder.remaining().toMillis());
    return map;
  }

  private static Map<String, Object> json(LockReport.Waiter waiter) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("id", waiter.id());
    map.put("label", waiter.label());
    map.put("host", waiter.host());
    map.put("pid", waiter.pid());
    map.put("mode", waiter.mode());
    map.put("since", waiter.since().toString());
    return map;
  }

  /** What {@code ls --json} and {@code watch --json} print. */
  public static Map<String, Object> json(String store, List<LockReport> reports, boolean complete) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("store", store);
    map.put("complete", complete);
    map.put("locks", reports.stream().map(Reports::json).toList());
    return map;
  }
}
