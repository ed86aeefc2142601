package io.fenceline.redis;

import static io.fenceline.redis.Answers.number;
import static io.fenceline.redis.Answers.text;

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

/**
 * What the nodes say of a name, put together: a grant counts if a majority has it, or may have it,
 * since not all have answered. Attempts that are under way are not shown.
 */
final class RedlockReport {
  private final RedlockNodes nodes;
  private final int missing;
  private final Map<String, List<List<?>>> bySecret = new LinkedHashMap<>();

  RedlockReport(RedlockNodes nodes, RedlockRound round) {
    this.nodes = nodes;
    this.missing = nodes.size() - round.answered();
    for (RedlockNode node : nodes.all) {
      List<Object> rows = round.answer(node.index);
      if (rows != null) {
        for (Object each : rows) {
          List<?> row = (List<?>) each;
          String secret = HexFormat.of().formatHex((byte[]) row.get(0));
          bySecret.computeIfAbsent(secret, any -> new ArrayList<>()).add(row);
        }
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

  private boolean isHeld(List<List<?>> rows) {
    return rows.stream().anyMatch(row -> !isTentative(row))
        && rows.size() + missing >= nodes.majority;
  }

  private static boolean isTentative(List<?> row) {
    return text(row.get(8)).equals("t");
  }

  private static long number(List<List<?>> rows) {
    return rows.stream()
        .filter(row -> !isTentative(row))
        .mapToLong(row -> Answers.number(row.get(6)))
        .max()
        .orElse(0);
  }

  private NameState.Holder holder(String secret, List<List<?>> rows) {
    List<?> any = rows.get(0);
    return new NameState.Holder(
        Owner.idOf(secret),
        Answers.client(any.get(4)),
        Answers.mode(
            text(any.get(1)), (int) Answers.number(any.get(2)), (int) Answers.number(any.get(3))),
        number(rows),
        Instant.ofEpochMilli(Answers.number(any.get(5))),
        Duration.ofMillis(remaining(rows)));
  }

  /** Until so many nodes have let it go that the others are no majority's obstacle any more. */
  private long remaining(List<List<?>> rows) {
    List<Long> left =
        new ArrayList<>(rows.stream().map(row -> Answers.number(row.get(7))).toList());
    left.sort(Collections.reverseOrder());
    return left.get(Math.min(nodes.spare(), left.size() - 1));
  }

  /** The owner of the grant with a number; null if a majority has none. */
  byte @org.jspecify.annotations.Nullable [] owner(long number) {
    for (Map.Entry<String, List<List<?>>> each : bySecret.entrySet()) {
      if (isHeld(each.getValue()) && number(each.getValue()) == number) {
        return HexFormat.of().parseHex(each.getKey());
      }
    }
    return null;
  }
}
