package io.fenceline.redis.redlock;

import io.fenceline.redis.layout.Answers;
import io.fenceline.redis.redlock.RedlockAnswers.Row;
import io.fenceline.spi.NameState;
import io.fenceline.spi.Owner;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the nodes say of a name, put together: a grant counts if a majority has it, or may have it,
 * since not all have answered. Attempts that are under way are not shown.
 */
final class MajorityView {
  private final Nodes nodes;
  private final int missing;
  private final Map<String, List<Row>> bySecret = new LinkedHashMap<>();

  /**
   * A grant that was looked for.
   *
   * @param owner whose it is: a secret
   * @param attempt up to which attempt of the owner
   * @param termMillis for how long the owner may believe in it once it is renewed
   */
  @SuppressWarnings("ArrayRecordComponent") // Passed on, never compared.
  record Found(byte[] owner, long attempt, long termMillis) {}

  MajorityView(Nodes nodes, Round<List<Row>> round) {
    this.nodes = nodes;
    this.missing = nodes.size() - round.answered();
    for (Node node : nodes.all) {
      List<Row> rows = round.answer(node.index);
      if (rows != null) {
        rows.forEach(
            row -> bySecret.computeIfAbsent(row.secret(), any -> new ArrayList<>()).add(row));
      }
    }
  }

  NameState state(String name) {
    List<NameState.Holder> holders = new ArrayList<>();
    bySecret.forEach(
        (secret, rows) -> {
          if (isHeld(rows)) {
            holders.add(holder(secret, rows));
          }
        });
    holders.sort(Comparator.comparingLong(NameState.Holder::number));
    return new NameState(name, holders, List.of());
  }

  private boolean isHeld(List<Row> rows) {
    return rows.stream().anyMatch(row -> !row.tentative())
        && rows.size() + missing >= nodes.majority;
  }

  private static long number(List<Row> rows) {
    return rows.stream().filter(row -> !row.tentative()).mapToLong(Row::number).max().orElse(0);
  }

  private NameState.Holder holder(String secret, List<Row> rows) {
    Row any = rows.get(0);
    return new NameState.Holder(
        Owner.idOf(secret),
        any.client(),
        Answers.mode(any.kind(), any.count(), any.total()),
        number(rows),
        Instant.ofEpochMilli(any.sinceMillis()),
        Duration.ofMillis(remaining(rows)));
  }

  /** Until so many nodes have let it go that the others are no majority's obstacle any more. */
  private long remaining(List<Row> rows) {
    List<Long> left = new ArrayList<>(rows.stream().map(Row::remainingMillis).toList());
    left.sort(Collections.reverseOrder());
    return left.get(Math.min(nodes.spare(), left.size() - 1));
  }

  /** The grant with a number; null if a majority has none. */
  @Nullable Found find(long number) {
    for (Map.Entry<String, List<Row>> each : bySecret.entrySet()) {
      List<Row> rows = each.getValue();
      if (isHeld(rows) && number(rows) == number) {
        long attempt = rows.stream().mapToLong(Row::attempt).max().orElse(0);
        long term = rows.stream().mapToLong(Row::termMillis).max().orElse(0);
        return new Found(HexFormat.of().parseHex(each.getKey()), attempt, term);
      }
    }
    return null;
  }
}
