package io.fenceline.redis;

import static io.fenceline.redis.Answers.number;

import io.fenceline.redis.Topology.Purpose;
import io.fenceline.spi.Lane;
import io.fenceline.spi.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets nodes vote again that were restarted or emptied.
 *
 * <p>A node that has lost its memory may have granted what still runs. So it waits for as long as
 * the longest grant runs that a majority of voting nodes knows of, and takes over the largest
 * counters of that majority; meanwhile renewals give it back what it had granted.
 */
final class RedlockRecovery {
  /*
   * Why a majority is enough, and why it must be one that votes. A token was written to a majority;
   * those of it that have forgotten it do not vote, so among any majority that votes is one that
   * remembers. The same goes for leases.
   *
   * If too many have forgotten, there is no such majority, and nobody is left to ask: then whoever is
   * there decides, with the longest lease that this client knows of itself. At a client that has just
   * been opened that is none, which lets a new installation start at once. A wiped one can't be told
   * from it: its locks are gone, and tokens go on from the clocks. That is declared.
   */
  private static final Logger LOG = LoggerFactory.getLogger(RedlockRecovery.class);
  private static final long PAUSE_NANOS = 100_000_000;
  private static final int FIRST_COUNTER = 2;

  private final RedlockNodes nodes;
  private final AtomicBoolean running = new AtomicBoolean();
  private final AtomicLong longestMillis = new AtomicLong();
  private volatile boolean closed;

  RedlockRecovery(RedlockNodes nodes) {
    this.nodes = nodes;
  }

  /** A lease that this client relies on. */
  void knows(Duration term) {
    longestMillis.accumulateAndGet(term.toMillis(), Math::max);
  }

  /** A node was found that does not vote: takes care of it, unless someone does already. */
  void start() {
    if (!closed && running.compareAndSet(false, true)) {
      run().whenComplete((left, failure) -> again(failure == null ? left : PAUSE_NANOS));
    }
  }

  /** Looks again after a while; not at all after 0. */
  void again(long nanos) {
    running.set(false);
    if (nanos > 0 && !closed) {
      Time time = nodes.context.time();
      time.schedule(nanos, () -> time.lane(Lane.WORK).execute(this::start));
    }
  }

  /**
   * Looks at all nodes once, and admits those that may vote.
   *
   * @return after how many nanoseconds to look again; 0 if all that answered vote
   */
  CompletableFuture<Long> run() {
    return survey()
        .thenCompose(
            survey -> {
              List<RedlockNode> waiting = new ArrayList<>();
              for (RedlockNode node : nodes.all) {
                List<Object> answer = survey.answer(node.index);
                if (answer != null && !votes(answer)) {
                  waiting.add(node);
                }
              }
              int voting = survey.count(RedlockRecovery::votes);
              if (waiting.isEmpty()) {
                return CompletableFuture.completedFuture(0L);
              }
              if (voting < nodes.majority && waiting.size() <= nodes.spare()) {
                return CompletableFuture.completedFuture(PAUSE_NANOS); // It can't be told yet.
              }
              return admit(waiting, survey, voting >= nodes.majority);
            });
  }

  private CompletableFuture<RedlockRound> survey() {
    byte[][] keys = {RedlockLayout.STATE, RedlockLayout.INDEX};
    return nodes
        .round(Purpose.CLAIMS, Script.REDLOCK_SURVEY, keys, run -> new byte[][] {run})
        .within(
            nodes.patienceNanos(),
            round -> round.count(RedlockRecovery::votes) >= nodes.majority,
            nodes.longPatienceNanos());
  }

  private static boolean votes(List<Object> answer) {
    return number(answer.get(0)) == 1;
  }

  private CompletableFuture<Long> admit(
      List<RedlockNode> waiting, RedlockRound survey, boolean remembered) {
    long wait = remembered ? 0 : longestMillis.get();
    Map<Long, Long> counters = new TreeMap<>();
    for (RedlockNode node : nodes.all) {
      List<Object> answer = survey.answer(node.index);
      if (answer != null && (votes(answer) || !remembered)) {
        wait = Math.max(wait, number(answer.get(1)));
        for (int i = FIRST_COUNTER; i + 1 < answer.size(); i += 2) {
          counters.merge(number(answer.get(i)), number(answer.get(i + 1)), Math::max);
        }
      }
    }
    List<byte[]> figures = new ArrayList<>();
    figures.add(Layout.bytes(wait));
    counters.forEach(
        (bucket, last) -> {
          figures.add(Layout.bytes(bucket));
          figures.add(Layout.bytes(last));
        });
    return nodes
        .round(
            waiting::contains,
            node ->
                node.call(
                    Purpose.CLAIMS,
                    Script.REDLOCK_ADMIT,
                    new byte[][] {RedlockLayout.STATE},
                    run -> arguments(run, figures)))
        .until(round -> false, nodes.longPatienceNanos())
        .thenApply(round -> pause(waiting, round));
  }

  private static byte[][] arguments(byte[] run, List<byte[]> figures) {
    byte[][] all = new byte[1 + figures.size()][];
    all[0] = run;
    for (int i = 0; i < figures.size(); i++) {
      all[i + 1] = figures.get(i);
    }
    return all;
  }

  private static long pause(List<RedlockNode> waiting, RedlockRound round) {
    long pause = 0;
    for (RedlockNode node : waiting) {
      List<Object> answer = round.answer(node.index);
      long left = answer == null ? 0 : number(answer.get(0));
      if (answer != null && left == 0) {
        LOG.info("Node {} votes from now on", node);
      } else {
        long next = Math.max(PAUSE_NANOS, (left + 1) * 1_000_000);
        pause = pause == 0 ? next : Math.min(pause, next);
      }
    }
    return pause;
  }

  void close() {
    closed = true;
  }
}
