package io.fenceline.redis.replay;

import io.fenceline.redis.layout.Call;
import io.fenceline.redis.replay.RecordedRequest.Purpose;
import io.fenceline.redis.replay.RecordedRequest.Touch;
import io.fenceline.redis.replay.ReplayServer.Row;
import io.fenceline.redis.replay.ReplayServer.Snapshot;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Plays recorded requests to a server again: as they came, and so that each of them comes late or
 * twice; and judges by {@link ReplayRules} what each has done.
 *
 * <p>How late: after one more request, after several, after its owner's next one (as when its
 * connection was given up and the owner went on over another one), and after all others. To be
 * fast, several that are far from each other are late in the same run.
 */
public final class Replay {
  private static final Snapshot NOTHING = new Snapshot(0, 0, -1, List.of());
  private static final int STRIDE = 4;
  private static final long NANOS_PER_MICRO = 1_000;
  private static final long LONG_AFTERWARDS = 3_600_000_000_000L;

  /** When a request comes instead, or once more. */
  private enum Lateness {
    ONE,
    SEVERAL,
    AFTER_ITS_OWNER,
    AT_THE_END;

    /** The place in the recording after which the request comes. */
    int after(List<RecordedRequest> part, int index) {
      int last = part.size() - 1;
      return switch (this) {
        case ONE -> Math.min(last, index + 1);
        case SEVERAL -> Math.min(last, index + 5);
        case AT_THE_END -> last;
        case AFTER_ITS_OWNER -> afterItsOwner(part, index);
      };
    }

    private static int afterItsOwner(List<RecordedRequest> part, int index) {
      int last = part.size() - 1;
      for (int next = index + 1; next < last; next++) {
        RecordedRequest later = part.get(next);
        if (part.get(index).touches().stream().anyMatch(touch -> later.concerns(touch.owner()))) {
          return next;
        }
      }
      return last;
    }
  }

  private final ReplayServer server;
  private final RecordedRequest.Dialect dialect;

  /** Whom a forced release is meant for, by its index: numbers are others in each run. */
  private final Map<Integer, String> forced = new HashMap<>();

  /** Which number a claim was given in this run, by its index. */
  private final Map<Integer, Long> given = new HashMap<>();

  private final Map<String, String> findings = new LinkedHashMap<>();
  private int runs;

  public Replay(ReplayServer server, RecordedRequest.Dialect dialect) {
    this.server = server;
    this.dialect = dialect;
  }

  /** Which rules were broken, and how it came about the first time. */
  public Map<String, String> findings() {
    return findings;
  }

  /** How many runs there were. */
  public int runs() {
    return runs;
  }

  /** Plays all parts of a recording; of those that are alike, one. */
  public void playAll(List<RecordedRequest> all) {
    different(all).forEach(this::play);
  }

  /**
   * Plays every third part of a long recording, and all of them with {@code
   * -Dfenceline.replay.all=true}, as {@code ./check --long} does.
   */
  public void playMany(List<RecordedRequest> all) {
    int stride = Boolean.getBoolean("fenceline.replay.all") ? 1 : 3;
    List<List<RecordedRequest>> parts = different(all);
    for (int i = 0; i < parts.size(); i += stride) {
      play(parts.get(i));
    }
  }

  private static List<List<RecordedRequest>> different(List<RecordedRequest> all) {
    Map<String, List<RecordedRequest>> different = new LinkedHashMap<>();
    for (List<RecordedRequest> part : Recording.apart(all)) {
      different.putIfAbsent(Recording.shape(part), part);
    }
    return List.copyOf(different.values());
  }

  /** Plays requests that have to do with each other in all orders. */
  void play(List<RecordedRequest> part) {
    run("as recorded", part, part);
    for (Lateness lateness : Lateness.values()) {
      run("each once more, " + lateness, part, delayed(part, lateness, 0, 1, true));
      for (int first = 0; first < Math.min(STRIDE, part.size()); first++) {
        run(
            "every fourth from " + first + " late, " + lateness,
            part,
            delayed(part, lateness, first, STRIDE, false));
      }
    }
  }

  private static List<RecordedRequest> delayed(
      List<RecordedRequest> part, Lateness lateness, int first, int stride, boolean twice) {
    Map<Integer, List<RecordedRequest>> late = new HashMap<>();
    List<RecordedRequest> order = new ArrayList<>();
    for (int i = 0; i < part.size(); i++) {
      boolean isLate = i % stride == first % stride;
      if (isLate) {
        late.computeIfAbsent(lateness.after(part, i), any -> new ArrayList<>()).add(part.get(i));
      }
      if (!isLate || twice) {
        order.add(part.get(i));
      }
      order.addAll(late.getOrDefault(i, List.of()));
    }
    return order;
  }

  private void run(String how, List<RecordedRequest> part, List<RecordedRequest> order) {
    runs++;
    server.empty();
    long start = server.nanos();
    long first = part.get(0).micros();
    long due = 0;
    ReplayRules rules = new ReplayRules(part);
    Map<String, Snapshot> states = new TreeMap<>();
    given.clear();
    for (RecordedRequest recorded : order) {
      RecordedRequest request = renumbered(recorded, part, rules, states);
      due = Math.max(due, (request.micros() - first) * NANOS_PER_MICRO);
      server.goOnTo(start + due);
      List<String> names = request.touches().stream().map(Touch::name).distinct().toList();
      List<Snapshot> after = server.send(request.call(), names);
      for (int i = 0; i < names.size(); i++) {
        String name = names.get(i);
        Snapshot before = states.getOrDefault(name, NOTHING);
        String broken = rules.check(request, name, before, after.get(i));
        if (broken != null) {
          findings.putIfAbsent(
              broken,
              "%s: request %s made %s of %s; the order was %s"
                  .formatted(how, request, after.get(i), before, upTo(order, request)));
          return;
        }
        states.put(name, after.get(i));
        noteGiven(request, after.get(i));
      }
    }
    checkFreed(how, order, states);
  }

  private void noteGiven(RecordedRequest request, Snapshot after) {
    for (Touch touch : request.touches()) {
      for (Row row : after.rows()) {
        if (touch.purpose() == Purpose.CLAIM && row.owner().equals(touch.owner())) {
          given.putIfAbsent(
              request.index(), row.number()); // The first answer is the one it acts on.
        }
      }
    }
  }

  /** The number that was given to the claim that a request belongs to; 0 if there was none. */
  private long given(RecordedRequest recorded, Touch touch, List<RecordedRequest> part) {
    long number = 0;
    for (RecordedRequest earlier : part) {
      if (earlier.index() < recorded.index()
          && earlier.touches().stream()
              .anyMatch(claim -> claim.is(Purpose.CLAIM, touch.name(), touch.owner()))) {
        number = given.getOrDefault(earlier.index(), 0L);
      }
    }
    return number;
  }

  private RecordedRequest renumbered(
      RecordedRequest recorded,
      List<RecordedRequest> part,
      ReplayRules rules,
      Map<String, Snapshot> states) {
    Call call =
        dialect.renumbered(
            recorded.call(),
            touch ->
                touch.purpose() == Purpose.CONFIRM
                    ? given(recorded, touch, part)
                    : rules.numberOf(
                        touch.name(),
                        touch.owner().isEmpty()
                            ? forced(recorded, touch.name(), states)
                            : touch.owner()));
    return new RecordedRequest(recorded.index(), recorded.micros(), call, dialect.touches(call));
  }

  private String forced(RecordedRequest recorded, String name, Map<String, Snapshot> states) {
    return forced.computeIfAbsent(
        recorded.index(),
        first ->
            states.getOrDefault(name, NOTHING).rows().stream()
                .filter(row -> row.letter().equals("h"))
                .max(Comparator.comparingLong(Row::number))
                .map(Row::owner)
                .orElse(""));
  }

  private static List<String> upTo(List<RecordedRequest> order, RecordedRequest last) {
    List<String> all = indexes(order);
    return all.subList(0, 1 + all.lastIndexOf(last.index() + ":" + last.call()));
  }

  private static List<String> indexes(List<RecordedRequest> order) {
    return order.stream().map(request -> request.index() + ":" + request.call()).toList();
  }

  /** Nobody asks any more: each name is free in the end, and nothing is left of it. */
  private void checkFreed(String how, List<RecordedRequest> order, Map<String, Snapshot> states) {
    long left = 0;
    for (Snapshot state : states.values()) {
      for (Row row : state.rows()) {
        left = Math.max(left, row.ends() - state.now());
      }
    }
    if (left <= 0) {
      return;
    }
    server.goOnTo(server.nanos() + Math.min(LONG_AFTERWARDS, left * 1_000_000 + 1_000_000));
    for (String name : states.keySet()) {
      Snapshot state = server.look(name);
      if (!state.rows().isEmpty()) {
        findings.putIfAbsent(
            "I7: a name is not free when all its time is over",
            "%s: '%s' is %s; the order was %s".formatted(how, name, state, indexes(order)));
      }
    }
  }
}
