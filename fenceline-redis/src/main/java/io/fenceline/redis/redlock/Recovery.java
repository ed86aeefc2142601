package io.fenceline.redis.redlock;

import io.fenceline.redis.connection.Topology.Purpose;
import io.fenceline.redis.layout.Layout;
import io.fenceline.redis.layout.Script;
import io.fenceline.redis.redlock.RedlockAnswers.Admitted;
import io.fenceline.redis.redlock.RedlockAnswers.Forced;
import io.fenceline.redis.redlock.RedlockAnswers.Memory;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets nodes vote again that were restarted or emptied.
 *
 * <p>A node that has lost its memory may have granted what still runs. So it waits for the longest
 * term of the grants that a majority of voting nodes knows of, and takes over the largest counters
 * of that majority, and what it knows to have been ended by force; meanwhile renewals give it back
 * what it had granted.
 */
final class Recovery {
  /*
   * Why a majority is enough, and why it must be one that votes. A token was written to a majority;
   * those of it that have forgotten it do not vote, so among any majority that votes is one that
   * remembers. The same goes for leases, and for what was ended by force.
   *
   * Why the wait is a whole term, and not what is left of it at the others: the node may have renewed
   * a grant, and answered, before the others were asked to. A term is known to a majority before it
   * counts: the first round of a claim makes it known, and a renewal that is longer is made twice.
   *
   * Why the decision is kept at the node. When its time is over, those that remembered may be gone. It
   * needs nobody then: what it may have granted is over, and it has their counters, taken when half of
   * the time was over: the node may have confirmed a token that was written to the others afterwards,
   * but no attempt lasts for more than half of its lease.
   *
   * Why they are asked twice. What counts is what the others know after the node has lost its memory:
   * in one round, a node may have answered before another one granted a lock and lost its memory. So
   * the first round finds those that have lost it, and the others are asked again. What is answered
   * to the first one when the second has begun says nothing of that. A loss has a name, which the
   * admission has to give: one that is late, and the node has lost its memory again since, was not made
   * for this loss.
   *
   * If too many have forgotten, there is no such majority, and nobody is left to ask: then whoever is
   * there decides, with the longest lease that this client knows of itself. At a client that has just
   * been opened that is none, which lets a new installation start at once. A wiped one can't be told
   * from it: its locks are gone, and tokens go on from the clocks. That is declared. If some nodes do
   * not answer, they may be the ones that remember, and it takes a minute. Such a wait is a guess: as
   * long as it lasts, a client that knows of longer leases makes it longer.
   */
  private static final Logger LOG = LoggerFactory.getLogger(Recovery.class);
  private static final long PAUSE_NANOS = 100_000_000;

  /** Another node may lose its memory while one waits. */
  private static final long LONGEST_PAUSE_NANOS = 5_000_000_000L;

  /** How long grants may run that only nodes know of that do not answer: a guess, and declared. */
  private static final long UNKNOWN_MILLIS = 60_000;

  private final Nodes nodes;
  private final AtomicLong longestMillis = new AtomicLong();
  private volatile boolean closed;

  // Guarded by this.
  private boolean running;
  private boolean foundMore;

  Recovery(Nodes nodes) {
    this.nodes = nodes;
  }

  /** A lease that this client relies on. */
  void knows(Duration term) {
    longestMillis.accumulateAndGet(term.toMillis(), Math::max);
  }

  /** A node was found that does not vote: takes care of it, unless someone does already. */
  void start() {
    synchronized (this) {
      foundMore = true;
      if (closed || running) {
        return;
      }
      running = true;
    }
    nodes.context.time().lane(Lane.WORK).execute(this::look);
  }

  /**
   * As {@link #start}, for the first time; completes when those vote that may vote at once. Nodes
   * that are slow are looked at again, when nobody waits for it.
   */
  CompletableFuture<Void> startAndAwait() {
    synchronized (this) {
      running = true;
    }
    return run(ask(this::isAnswered).thenApply(this::noteMissing))
        .handle((left, failure) -> again(failure == null ? left : PAUSE_NANOS))
        .copy(); // Whoever stops waiting completes it, and a stage that is complete does nothing.
  }

  private Round<Memory> noteMissing(Round<Memory> survey) {
    if (survey.answered() < nodes.size()) {
      synchronized (this) {
        foundMore = true;
      }
    }
    return survey;
  }

  private void look() {
    synchronized (this) {
      foundMore = false;
    }
    run(ask(this::isAnsweredByAll))
        .whenComplete((left, failure) -> again(failure == null ? left : PAUSE_NANOS));
  }

  /** Looks again after a while; not at all after 0, unless a node was found meanwhile. */
  private @Nullable Void again(long nanos) {
    long pause;
    synchronized (this) {
      pause = nanos == 0 && foundMore ? PAUSE_NANOS : nanos;
      running = pause > 0 && !closed;
      if (!running) {
        return null;
      }
    }
    Time time = nodes.context.time();
    time.schedule(pause, () -> time.lane(Lane.WORK).execute(this::look));
    return null;
  }

  /**
   * Looks at all nodes, and admits those that may vote.
   *
   * @return after how many nanoseconds to look again; 0 if all that answered vote
   */
  private CompletableFuture<Long> run(CompletableFuture<Round<Memory>> first) {
    return first.thenCompose(
        before -> {
          Map<Node, Memory> lost = withoutVote(before);
          int answered = before.answered();
          return lost.isEmpty()
              ? CompletableFuture.completedFuture(0L)
              : ask(round -> round.answered() >= answered).thenCompose(after -> admit(lost, after));
        });
  }

  /** By now: what is answered late may be younger than what the others are about to say. */
  private Map<Node, Memory> withoutVote(Round<Memory> survey) {
    Map<Node, Memory> found = new HashMap<>();
    for (Node node : nodes.all) {
      Memory memory = survey.answer(node.index);
      if (memory != null && !memory.votes()) {
        found.put(node, memory);
      }
    }
    return found;
  }

  private boolean isAnswered(Round<Memory> round) {
    return round.count(Memory::votes) >= nodes.majority;
  }

  /** Also by those that are slow; one without a connection is not waited for. */
  private boolean isAnsweredByAll(Round<Memory> round) {
    return nodes.all.stream()
        .allMatch(node -> round.answer(node.index) != null || !node.server().isConnected());
  }

  /** Asks all nodes, and waits for them for long, unless it is enough before. */
  private CompletableFuture<Round<Memory>> ask(Predicate<Round<Memory>> isEnough) {
    return survey(nodes).within(nodes.patienceNanos(), isEnough, nodes.longPatienceNanos());
  }

  /** The round that asks all nodes what they remember. */
  static Round<Memory> survey(Nodes nodes) {
    byte[][] keys = {RedlockLayout.STATE, RedlockLayout.INDEX};
    byte[] loss = Layout.bytes(HexFormat.of().toHexDigits(nodes.context.random().nextLong()));
    return nodes.round(
        Purpose.CLAIMS,
        Script.REDLOCK_SURVEY,
        keys,
        run -> new byte[][] {run, loss},
        Memory::parse);
  }

  private CompletableFuture<Long> admit(Map<Node, Memory> before, Round<Memory> after) {
    List<Node> waiting = new ArrayList<>();
    for (Node node : nodes.all) {
      Memory first = before.get(node);
      Memory second = after.answer(node.index);
      if (first != null
          && second != null
          && !second.votes()
          && first.loss().equals(second.loss())) {
        waiting.add(node);
      }
    }
    boolean remembered = isAnswered(after);
    if (!remembered && waiting.size() <= nodes.spare()) {
      // Nobody can tell yet; but about some of them it may have been decided before.
      waiting.removeIf(node -> !memory(after, node).isDecided());
    }
    return waiting.isEmpty()
        ? CompletableFuture.completedFuture(PAUSE_NANOS)
        : admit(waiting, before, decide(after, remembered));
  }

  private static Memory memory(Round<Memory> survey, Node node) {
    return Objects.requireNonNull(survey.answer(node.index));
  }

  /**
   * What nodes are told that do not vote.
   *
   * @param waitMillis how long a grant may run that such a node had made
   * @param sure whether a majority that votes says so
   */
  private record Decision(
      long waitMillis, boolean sure, List<Forced> forced, Map<Long, Long> counters) {

    byte[][] arguments(byte[] run, Memory asked) {
      List<byte[]> all = new ArrayList<>();
      all.add(run);
      all.add(Layout.bytes(asked.loss()));
      all.add(Layout.bytes(waitMillis));
      all.add(Layout.bytes(sure ? 1 : 0));
      all.add(Layout.bytes(asked.late() ? 1 : 0));
      all.add(Layout.bytes(forced.size()));
      for (Forced each : forced) {
        all.add(each.owner());
        all.add(Layout.bytes(each.number()));
        all.add(Layout.bytes(each.leftMillis()));
      }
      counters.forEach(
          (bucket, last) -> {
            all.add(Layout.bytes(bucket));
            all.add(Layout.bytes(last));
          });
      return all.toArray(byte[][]::new);
    }
  }

  private Decision decide(Round<Memory> survey, boolean remembered) {
    long wait = remembered ? 0 : longestMillis.get();
    if (!remembered && survey.answered() < nodes.size()) {
      wait = Math.max(wait, UNKNOWN_MILLIS);
    }
    List<Forced> forced = new ArrayList<>();
    Map<Long, Long> counters = new TreeMap<>();
    for (Node node : nodes.all) {
      Memory memory = survey.answer(node.index);
      if (memory != null && (memory.votes() || !remembered)) {
        wait = Math.max(wait, memory.termMillis());
        forced.addAll(memory.forced());
        memory.counters().forEach((bucket, last) -> counters.merge(bucket, last, Math::max));
      }
    }
    return new Decision(wait, remembered, forced, counters);
  }

  private CompletableFuture<Long> admit(
      List<Node> waiting, Map<Node, Memory> before, Decision decision) {
    return nodes
        .round(
            waiting::contains,
            node -> {
              Memory asked = Objects.requireNonNull(before.get(node));
              return node.call(
                  Purpose.CLAIMS,
                  Script.REDLOCK_ADMIT,
                  new byte[][] {RedlockLayout.STATE},
                  run -> decision.arguments(run, asked));
            },
            Admitted::parse)
        .until(round -> false, nodes.longPatienceNanos())
        .thenApply(round -> pause(waiting, round));
  }

  private static long pause(List<Node> waiting, Round<Admitted> round) {
    long pause = 0;
    for (Node node : waiting) {
      Admitted answer = round.answer(node.index);
      long left = answer == null ? -1 : answer.leftMillis();
      if (left == 0) {
        LOG.info("Node {} votes from now on", node);
      } else {
        // When a little more than half of it is over, then of the rest, and so on.
        long next = Math.max(PAUSE_NANOS, (left * 11 / 20 + 1) * 1_000_000);
        pause = pause == 0 ? next : Math.min(pause, next);
      }
    }
    return Math.min(pause, LONGEST_PAUSE_NANOS);
  }

  void close() {
    closed = true;
  }
}
