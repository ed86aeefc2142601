package io.fenceline.redis;

import static io.fenceline.redis.Answers.number;
import static io.fenceline.redis.Answers.text;

import io.fenceline.ModeConflictException;
import io.fenceline.TokenOverflowException;
import io.fenceline.redis.Topology.Purpose;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Durations;
import io.fenceline.spi.GrantNumbers;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Moment;
import io.fenceline.spi.Obstacle;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to get a name: two rounds at all nodes.
 *
 * <p>In the first, nodes grant the claim, each with a number. The largest number of a majority is
 * the token. In the second it is written back to the nodes that granted the claim, and whose number
 * was among those that the largest was taken from. With a majority of them, the attempt has won.
 */
final class RedlockBallot {
  /*
   * Two holders, a token that goes back, a name that never frees: what could bring them about here.
   *
   * - Two majorities share a node, and a node has one grant (or such as do not conflict) at a time.
   *   So of two holds one was confirmed at the shared node before the other one was granted there,
   *   and the other one's number is larger. A node that granted us after the numbers were compared
   *   does not count: its number is not in the token.
   * - A pause between the rounds, or after them: the lease counts from before the first round, and an
   *   attempt is given up when half of it has passed. A grant that ended meanwhile is not confirmed.
   * - A node that was restarted between the rounds: it does not confirm, since it knows no such grant,
   *   or is another run of the server.
   * - A claim that arrives late, after its undo: what it leaves ends with its lease, at that node.
   * - An attempt that fails is undone at all nodes, also at those that refused or did not answer: a
   *   reply that is lost is not a claim that is lost.
   */

  private final RedlockNodes nodes;
  private final RedlockRequest request;
  private final AtomicLongArray seen;
  private final byte[] client;
  private final byte[] channel;
  private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
  private volatile long confirmedToken;

  /** What came of an attempt. */
  sealed interface Outcome {}

  /** A majority has it. */
  record Won(long number, Moment sent) implements Outcome {}

  /**
   * Others are in the way.
   *
   * @param contested whether nobody may have it: other attempts were under way, or there are slots
   *     that are free
   * @param next which slots to try next
   */
  record Lost(Obstacle obstacle, boolean contested, RedlockSlots next) implements Outcome {}

  /** Nodes did not answer, or do not vote, so that nobody knows. */
  record Undecided(RuntimeException cause, boolean someDoNotVote) implements Outcome {}

  /** It can't be had in this way. */
  record Refused(RuntimeException cause) implements Outcome {}

  RedlockBallot(
      RedlockNodes nodes,
      RedlockRequest request,
      AtomicLongArray seen,
      byte[] client,
      byte[] channel) {
    this.nodes = nodes;
    this.request = request;
    this.seen = seen;
    this.client = client;
    this.channel = channel;
  }

  /** Runs the attempt; a failed one has been undone, as far as nodes answer, when it completes. */
  CompletableFuture<Outcome> run() {
    long known = seen.get(request.bucket());
    RedlockRound first =
        nodes.round(
            Purpose.CLAIMS,
            Script.REDLOCK_CLAIM,
            request.keys(),
            run -> request.firstRound(run, known, client, channel));
    first.late(index -> confirmLate(first, index));
    first
        .until(this::isEnough, nodes.timeoutNanos(request.claim().lease()))
        .thenAccept(this::firstRoundIsOver);
    return outcome;
  }

  private static boolean isGranted(List<Object> answer) {
    return text(answer.get(0)).equals("g");
  }

  private boolean isEnough(RedlockRound round) {
    int granted = round.count(RedlockBallot::isGranted);
    if (held(round) != null) {
      return true;
    }
    boolean repeated = round.count(a -> isGranted(a) && number(a.get(2)) == 1) > 0;
    return (granted >= nodes.majority && !repeated) || granted + round.pending() < nodes.majority;
  }

  /** The number that a majority has confirmed to this owner already: the claim is a repeat. */
  private @Nullable Long held(RedlockRound round) {
    for (RedlockNode node : nodes.all) {
      List<Object> answer = round.answer(node.index);
      if (answer != null && isGranted(answer) && number(answer.get(2)) == 1) {
        long number = number(answer.get(1));
        int same =
            round.count(a -> isGranted(a) && number(a.get(2)) == 1 && number(a.get(1)) == number);
        if (same >= nodes.majority) {
          return number;
        }
      }
    }
    return null;
  }

  private void firstRoundIsOver(RedlockRound first) {
    Long held = held(first);
    if (held != null) {
      outcome.complete(new Won(held, first.sent()));
      return;
    }
    long[] given = new long[nodes.size()];
    int granted = 0;
    long token = 0;
    for (RedlockNode node : nodes.all) {
      List<Object> answer = first.answer(node.index);
      if (answer != null && isGranted(answer)) {
        granted++;
        given[node.index] = number(answer.get(1));
        token = Math.max(token, given[node.index]);
      }
    }
    seen.accumulateAndGet(request.bucket(), token, Math::max);
    if (granted < nodes.majority) {
      lose(first);
    } else if (isTooLate(first)) {
      abandon(first, "its first round");
    } else {
      secondRound(first, given, token);
    }
  }

  private boolean isTooLate(RedlockRound first) {
    long taken = nodes.context.time().nanos() - first.sent().nanos();
    return taken > request.claim().lease().toNanos() / 2;
  }

  private void secondRound(RedlockRound first, long[] given, long token) {
    confirmedToken = token;
    RedlockRound second =
        nodes.round(
            node -> given[node.index] > 0,
            node ->
                node.call(
                    Purpose.CLAIMS,
                    Script.REDLOCK_CONFIRM,
                    request.keys(),
                    run -> request.secondRound(run, given[node.index], token)));
    second
        .until(this::isConfirmedOrNever, nodes.timeoutNanos(request.claim().lease()))
        .thenAccept(round -> secondRoundIsOver(first, round, token));
  }

  private static boolean isConfirmed(List<Object> answer) {
    return number(answer.get(0)) == 1;
  }

  private boolean isConfirmedOrNever(RedlockRound round) {
    int confirmed = round.count(RedlockBallot::isConfirmed);
    return confirmed >= nodes.majority || confirmed + round.pending() < nodes.majority;
  }

  private void secondRoundIsOver(RedlockRound first, RedlockRound second, long token) {
    for (RedlockNode node : nodes.all) {
      List<Object> answer = second.answer(node.index);
      if (answer != null) {
        seen.accumulateAndGet(request.bucket(), number(answer.get(1)), Math::max);
      }
    }
    if (second.count(RedlockBallot::isConfirmed) < nodes.majority) {
      boolean overtaken = second.count(a -> !isConfirmed(a)) > 0;
      RuntimeException cause =
          nodes.failure(
              "The second round for lock '" + request.claim().name() + "'",
              second.describe(a -> isConfirmed(a) ? "confirmed it" : "has lost it"));
      undo(
          first,
          overtaken
              ? new Lost(Obstacle.UNKNOWN, true, request.slots())
              : new Undecided(cause, false));
    } else if (isTooLate(first)) {
      abandon(first, "its second round");
    } else {
      outcome.complete(new Won(token, first.sent()));
    }
  }

  /** A node granted after the numbers were compared: it gets the token, but does not count. */
  private void confirmLate(RedlockRound first, int index) {
    List<Object> answer = first.answer(index);
    boolean lost = outcome.isDone() && !(outcome.join() instanceof Won);
    if (answer != null && isGranted(answer) && confirmedToken > 0 && !lost) {
      long given = number(answer.get(1));
      nodes
          .all
          .get(index)
          .call(
              Purpose.CLAIMS,
              Script.REDLOCK_CONFIRM,
              request.keys(),
              run -> request.secondRound(run, given, confirmedToken));
    }
  }

  // Failed attempts. ----------------------------------------------------------------------------

  private void abandon(RedlockRound first, String when) {
    Duration taken = Duration.ofNanos(nodes.context.time().nanos() - first.sent().nanos());
    undo(
        first,
        new Undecided(
            nodes.failure(
                "An attempt for lock '%s' was abandoned: more than half of its lease of %s had passed after %s (%s); it"
                    .formatted(
                        request.claim().name(),
                        Durations.show(request.claim().lease()),
                        when,
                        Durations.show(taken)),
                first.describe(this::inWords)),
            false));
  }

  private void lose(RedlockRound first) {
    for (RedlockNode node : nodes.all) {
      List<Object> answer = first.answer(node.index);
      String kind = answer == null ? "" : text(answer.get(0));
      if (answer != null && kind.equals("c")) {
        undo(
            first,
            new Refused(
                new ModeConflictException(
                    request.claim().name(),
                    request.claim().mode().family(),
                    Answers.family(number(answer.get(1))))));
        return;
      }
      if (answer != null && kind.equals("o")) {
        undo(
            first,
            new Refused(
                new TokenOverflowException(
                    request.claim().name(), number(answer.get(1)), GrantNumbers.MAX)));
        return;
      }
    }
    int refused = first.count(a -> text(a.get(0)).equals("r"));
    int granted = first.count(RedlockBallot::isGranted);
    if (refused + granted < nodes.majority) {
      undo(
          first,
          new Undecided(
              nodes.failure(
                  "A claim of lock '" + request.claim().name() + "'",
                  first.describe(this::inWords)),
              first.count(a -> text(a.get(0)).equals("b")) > 0));
    } else {
      undo(first, lost(first, granted));
    }
  }

  private Lost lost(RedlockRound first, int granted) {
    List<Object> holder = null;
    int confirmed = 0;
    for (RedlockNode node : nodes.all) {
      List<Object> answer = first.answer(node.index);
      if (answer != null && text(answer.get(0)).equals("r")) {
        confirmed += isTentative(answer) ? 0 : 1;
        if (holder == null || isBetter(answer, holder)) {
          holder = answer;
        }
      }
    }
    Obstacle obstacle =
        holder == null
            ? Obstacle.UNKNOWN
            : new Obstacle(
                Answers.client(holder.get(1)).label(),
                number(holder.get(2)),
                Duration.ofMillis(number(holder.get(3))));
    if (request.claim().mode() instanceof Mode.Permits permits) {
      RedlockSlots next =
          RedlockSlots.among(permits, taken(first, permits), nodes.spare(), nodes.context.random());
      return new Lost(obstacle, !next.chosen().isEmpty(), next);
    }
    return new Lost(obstacle, confirmed <= nodes.spare() && granted > 0, RedlockSlots.NONE);
  }

  private static boolean isTentative(List<Object> refusal) {
    return text(refusal.get(4)).equals("t");
  }

  /** Whether a refusal says more of who holds the name: holds before attempts, later ones first. */
  private static boolean isBetter(List<Object> refusal, List<Object> than) {
    if (isTentative(refusal) != isTentative(than)) {
      return isTentative(than);
    }
    return number(refusal.get(2)) > number(than.get(2));
  }

  private int[] taken(RedlockRound first, Mode.Permits permits) {
    int[] taken = new int[permits.total()];
    for (RedlockNode node : nodes.all) {
      List<Object> answer = first.answer(node.index);
      if (answer != null && text(answer.get(0)).equals("r")) {
        for (Object slot : answer.subList(5, answer.size())) {
          taken[(int) number(slot)]++;
        }
      }
    }
    return taken;
  }

  private String inWords(List<Object> answer) {
    return switch (text(answer.get(0))) {
      case "g" -> "granted it as " + number(answer.get(1));
      case "r" -> "refused it: held by " + Answers.client(answer.get(1)).label();
      case "b" -> {
        long left = number(answer.get(1));
        yield "does not vote, since it was restarted or emptied"
            + (left < 0 ? "" : " (for another " + Durations.show(Duration.ofMillis(left)) + ")");
      }
      default -> "refused it";
    };
  }

  /**
   * At all nodes; waits for as many as have answered the claim, since only they can answer this.
   */
  private void undo(RedlockRound first, Outcome failed) {
    int awaited = first.answered();
    undoing(nodes, request.claim())
        .until(round -> round.answered() >= awaited, nodes.timeoutNanos(request.claim().lease()))
        .thenAccept(round -> outcome.complete(failed));
  }

  /** The round that takes a claim back. */
  static RedlockRound undoing(RedlockNodes nodes, ClaimRequest claim) {
    return nodes.round(
        Purpose.CLAIMS,
        Script.REDLOCK_END,
        RedlockLayout.keys(claim.name()),
        run -> new byte[][] {claim.owner().bytes(), Layout.bytes("w"), Layout.bytes(0)});
  }
}
