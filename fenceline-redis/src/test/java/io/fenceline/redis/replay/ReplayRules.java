package io.fenceline.redis.replay;

import io.fenceline.redis.replay.RecordedRequest.Purpose;
import io.fenceline.redis.replay.RecordedRequest.Touch;
import io.fenceline.redis.replay.ReplayServer.Row;
import io.fenceline.redis.replay.ReplayServer.Snapshot;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What no request may do at a server, whenever it arrives: judged by how a name was before it and
 * how it is after it.
 */
final class ReplayRules {
  /** Redis tells the time that is left in whole milliseconds, by a clock that has gone on. */
  private static final long ROUNDING = 20;

  private static final long EVERYTHING = 1L << 40;

  private final List<RecordedRequest> recorded;
  private final Map<String, Long> largest = new HashMap<>();
  private final Set<String> known = new HashSet<>();
  private final Map<String, Long> numbers = new HashMap<>();
  private final Map<String, Integer> lastClaim = new HashMap<>();

  /** By which claim a row came about, by its index. */
  private final Map<String, Integer> claims = new HashMap<>();

  private final Set<String> forced = new HashSet<>();

  /** Rules for one replay of a recording. */
  ReplayRules(List<RecordedRequest> recorded) {
    this.recorded = recorded;
  }

  /** Judges what a request has done to a name; null if no rule is broken. */
  @Nullable String check(RecordedRequest request, String name, Snapshot before, Snapshot after) {
    for (Touch touch : request.touches()) {
      if (touch.purpose() == Purpose.CLAIM && touch.name().equals(name)) {
        lastClaim.merge(name + touch.owner(), request.index(), Math::max);
      }
    }
    String broken = exclusion(after);
    broken = broken != null ? broken : forced(request, name, before, after);
    broken = broken != null ? broken : numbers(request, name, after);
    noteClaims(request, name, before, after);
    for (Row row : before.rows()) {
      if (broken == null && row.ends() > after.now()) {
        broken =
            switch (row.letter()) {
              case "h" -> holder(request, name, row, after);
              case "k" -> closed(request, name, row, after);
              case "t" -> attempt(request, row, after);
              default -> waiter(request, name, row, after);
            };
      }
    }
    return broken == null && after.endlessKeys() > 0 ? "I7: a key never expires" : broken;
  }

  /** The last number that an owner was seen with; 0 if it had none. */
  long numberOf(String name, String owner) {
    return numbers.getOrDefault(name + owner, 0L);
  }

  private static @Nullable String exclusion(Snapshot after) {
    long taken = 0;
    for (Row row : after.alive("hkt")) {
      taken += weight(row);
      if (taken > Math.max(row.total(), row.kind().equals("p") ? 0 : EVERYTHING)) {
        return "I1: two conflicting grants at once";
      }
    }
    long sum =
        after.rows().stream()
            .filter(row -> !row.letter().equals("w"))
            .mapToLong(ReplayRules::weight)
            .sum();
    return after.sum() >= 0 && after.sum() != sum ? "I7: what is taken is not the sum" : null;
  }

  private static long weight(Row row) {
    return row.kind().equals("x") ? EVERYTHING : row.count();
  }

  /** A hold that was ended by force does not come back. */
  private @Nullable String forced(
      RecordedRequest request, String name, Snapshot before, Snapshot after) {
    for (Row row : after.alive("h")) {
      Row earlier = find(before, row.owner());
      if (forced.contains(name + row.number())
          && (earlier == null || earlier.number() != row.number())) {
        return "I5: what was ended by force came back";
      }
    }
    for (Touch touch : request.touches()) {
      if (touch.purpose() == Purpose.FORCE && touch.name().equals(name)) {
        forced.add(name + touch.number());
      }
    }
    return null;
  }

  private void noteClaims(RecordedRequest request, String name, Snapshot before, Snapshot after) {
    for (Row row : after.alive("ht")) {
      Row earlier = find(before, row.owner());
      boolean claimed =
          request.touches().stream().anyMatch(touch -> touch.is(Purpose.CLAIM, name, row.owner()));
      int index =
          claimed
              ? request.index()
              : earlier == null ? -1 : claims.getOrDefault(key(name, earlier), -1);
      claims.putIfAbsent(key(name, row), index);
    }
  }

  private static String key(String name, Row row) {
    return name + row.owner() + row.number();
  }

  /** What a node of a Redlock granted in the first round is touched by its owner only. */
  private static @Nullable String attempt(RecordedRequest request, Row row, Snapshot after) {
    Row now = find(after, row.owner());
    boolean own =
        request.concerns(row.owner())
            || request.touches().stream().anyMatch(touch -> touch.purpose() == Purpose.FORCE);
    return own || (now != null && now.number() == row.number())
        ? null
        : "I5: an attempt was ended by another's request";
  }

  private @Nullable String numbers(RecordedRequest request, String name, Snapshot after) {
    long before = largest.getOrDefault(name, 0L);
    boolean gift = request.touches().stream().anyMatch(touch -> touch.purpose() == Purpose.GIFT);
    for (Row row : after.alive("h")) {
      if (known.add(name + row.owner() + row.number())) {
        if (row.number() <= before && !gift) {
          return "I3: a number that is not larger";
        }
        numbers.put(name + row.owner(), row.number());
        largest.merge(name, row.number(), Math::max);
      }
    }
    return null;
  }

  /** A grant ends by its time, by its owner, or by force; by nothing else, and not sooner. */
  private @Nullable String holder(RecordedRequest request, String name, Row row, Snapshot after) {
    boolean ended = false;
    for (Touch touch : request.touches()) {
      ended |= touch.ends(name, row.owner());
      ended |= touch.purpose() == Purpose.FORCE && touch.number() == row.number();
      // Whoever asks again has given up what it was granted before.
      ended |=
          touch.is(Purpose.CLAIM, name, row.owner())
              && request.index() > claims.getOrDefault(key(name, row), Integer.MAX_VALUE);
    }
    Row now = find(after, row.owner());
    boolean holds = now != null && now.letter().equals("h") && now.number() == row.number();
    if (holds) {
      return now.ends() + ROUNDING < row.ends() ? "I5: a grant ends sooner" : null;
    }
    if (!ended) {
      return "I5: a grant was ended by another's request";
    }
    return isHeldSince(request, name, row.owner())
        ? "I5: an undo has ended what its owner was granted afterwards"
        : null;
  }

  /** Whether the owner asked again after it had sent this request, and held what it got. */
  private boolean isHeldSince(RecordedRequest undo, String name, String owner) {
    int claim = lastClaim.getOrDefault(name + owner, -1);
    if (claim < undo.index()) {
      return false;
    }
    for (RecordedRequest later : recorded) {
      if (later.index() > claim) {
        for (Touch touch : later.touches()) {
          if (touch.ends(name, owner)) {
            return touch.purpose() == Purpose.RELEASE;
          }
        }
      }
    }
    return false;
  }

  private static @Nullable String closed(
      RecordedRequest request, String name, Row row, Snapshot after) {
    Row now = find(after, row.owner());
    boolean forced =
        request.touches().stream()
            .anyMatch(touch -> touch.purpose() == Purpose.FORCE && touch.number() == row.number());
    boolean same = now != null && now.letter().equals("k") && now.ends() + ROUNDING >= row.ends();
    return same || forced ? null : "I5: a name that is kept closed was opened";
  }

  private static @Nullable String waiter(
      RecordedRequest request, String name, Row row, Snapshot after) {
    Row now = find(after, row.owner());
    boolean asks =
        request.touches().stream().anyMatch(touch -> touch.is(Purpose.CLAIM, name, row.owner()));
    // It may have been granted in this very step, before it left.
    boolean leaves = request.touches().stream().anyMatch(touch -> touch.ends(name, row.owner()));
    if (now == null) {
      return leaves ? null : "I7: a waiter was dropped";
    }
    return now.letter().equals("w") && now.ends() > row.ends() + ROUNDING && !asks
        ? "I7: a waiter that did not ask stays for longer"
        : null;
  }

  private static @Nullable Row find(Snapshot snapshot, String owner) {
    return snapshot.rows().stream()
        .filter(row -> row.owner().equals(owner) && row.ends() > snapshot.now())
        .findFirst()
        .orElse(null);
  }
}
