package io.fenceline.redis.redlock;

import io.fenceline.redis.connection.Reply;
import io.fenceline.redis.connection.Topology.Purpose;
import io.fenceline.redis.layout.Answers;
import io.fenceline.redis.layout.Script;
import io.fenceline.redis.redlock.RedlockAnswers.Confirmation;
import io.fenceline.redis.redlock.RedlockAnswers.Ended;
import io.fenceline.redis.redlock.RedlockAnswers.Granted;
import io.fenceline.redis.redlock.RedlockAnswers.Late;
import io.fenceline.redis.redlock.RedlockAnswers.NoVote;
import io.fenceline.redis.redlock.RedlockAnswers.OtherMode;
import io.fenceline.redis.redlock.RedlockAnswers.Overflow;
import io.fenceline.redis.redlock.RedlockAnswers.Refused;
import io.fenceline.redis.redlock.RedlockAnswers.Vote;
import io.fenceline.settings.Durations;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.GrantNumbers;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Refusals;
import io.fenceline.time.Moment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to get a name: two rounds at all nodes.
 *
 * <p>In the first, nodes grant the claim, each with a number. The largest number of a majority is
 * that of the grant. In the second it is written back to the nodes that granted the claim, and
 * whose number was among those that the largest was taken from. With a majority of them, the
 * attempt has won.
 */
final class Ballot {
  /*
   * Two holders, a token that goes back, a name that never frees: what could bring them about here.
   *
   * - Two majorities share a node, and a node has one grant (or such as do not conflict) at a time.
   *   So of two holds one was confirmed at the shared node before the other one was granted there,
   *   and the other one's number is larger. A node that granted us after the numbers were compared
   *   does not count: its number was not among those compared.
   * - A pause between the rounds, or after them: the lease counts from before the first round, and an
   *   attempt is given up when half of it has passed. A grant that ended meanwhile is not confirmed.
   * - A node that was restarted between the rounds: it does not confirm, since it knows no such grant,
   *   or is another run of the server.
   * - An attempt that fails is undone at all nodes, also at those that refused or did not answer: a
   *   reply that is lost is not a claim that is lost.
   * - An undo or a claim that arrives late, when the owner's next attempt has won: each names its
   *   attempt, and changes nothing where the owner has made a later one.
   * - A claim that arrives after its undo: they go over the same connection, one after the other, and
   *   a claim whose script the node did not know is not sent again by then, nor once the hold that
   *   others have granted is released. If the claim's connection has broken, the undo or the release
   *   tells the nodes to turn the claim away for a term. What arrives later still ends with its
   *   lease, at that node.
   */

  private final Nodes nodes;
  private final RedlockRequest request;
  private final AtomicLongArray seen;
  private final byte[] client;
  private final byte[] channel;
  private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
  private final OwnPermits holds;
  private volatile long confirmedNumber;
  private volatile boolean failed;

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
  record Lost(Obstacle obstacle, boolean contested, PermitSlots next) implements Outcome {}

  /** Nodes did not answer, or do not vote, so that nobody knows. */
  record Undecided(RuntimeException cause) implements Outcome {}

  /** It can't be had in this way. */
  record Impossible(RuntimeException cause) implements Outcome {}

  Ballot(
      Nodes nodes,
      RedlockRequest request,
      AtomicLongArray seen,
      byte[] client,
      byte[] channel,
      OwnPermits holds) {
    this.nodes = nodes;
    this.request = request;
    this.seen = seen;
    this.client = client;
    this.channel = channel;
    this.holds = holds;
  }

  /** Runs the attempt; a failed one has been undone, as far as nodes answer, when it completes. */
  CompletableFuture<Outcome> run() {
    long known = seen.get(request.bucket());
    Round<Vote> first =
        nodes.round(
            Purpose.CLAIMS,
            Script.REDLOCK_CLAIM,
            request.keys(),
            run -> request.firstRound(run, known, client, channel),
            Vote::parse);
    ClaimRequest claim = request.claim();
    first
        .late(index -> confirmLate(first, index))
        .lost(() -> holds.strayed(claim.owner(), claim.term()));
    first
        .until(this::isEnough, nodes.timeoutNanos(request.claim().lease()))
        .thenAccept(this::firstRoundIsOver);
    return outcome;
  }

  private boolean isEnough(Round<Vote> round) {
    int granted = round.count(Granted.class::isInstance);
    if (held(round) != null) {
      return true;
    }
    boolean repeated = round.count(Ballot::isConfirmed) > 0;
    return (granted >= nodes.majority && !repeated) || granted + round.pending() < nodes.majority;
  }

  private static boolean isConfirmed(Vote vote) {
    return vote instanceof Granted granted && granted.confirmed();
  }

  /** The number that a majority has confirmed to this owner already: the claim is a repeat. */
  private @Nullable Long held(Round<Vote> round) {
    for (Node node : nodes.all) {
      if (round.answer(node.index) instanceof Granted granted && granted.confirmed()) {
        if (round.count(granted::equals) >= nodes.majority) {
          return granted.number();
        }
      }
    }
    return null;
  }

  private void firstRoundIsOver(Round<Vote> first) {
    Long held = held(first);
    if (held != null) {
      win(held, first);
      return;
    }
    long[] given = new long[nodes.size()];
    int granted = 0;
    long number = 0;
    for (Node node : nodes.all) {
      if (first.answer(node.index) instanceof Granted grant) {
        granted++;
        given[node.index] = grant.number();
        number = Math.max(number, grant.number());
      }
    }
    seen.accumulateAndGet(request.bucket(), number, Math::max);
    if (granted < nodes.majority) {
      lose(first);
    } else if (isTooLate(first)) {
      abandon(first, "its first round");
    } else {
      secondRound(first, given, number);
    }
  }

  private boolean isTooLate(Round<Vote> first) {
    long taken = nodes.context.time().nanos() - first.sent().nanos();
    return taken > request.claim().lease().toNanos() / 2;
  }

  private void secondRound(Round<Vote> first, long[] given, long number) {
    confirmedNumber = number;
    Round<Confirmation> second =
        nodes.round(
            node -> given[node.index] > 0,
            node -> confirm(node, given[node.index], number),
            Confirmation::parse);
    second
        .until(this::isConfirmedOrNever, nodes.timeoutNanos(request.claim().lease()))
        .thenAccept(round -> secondRoundIsOver(first, round, number));
    confirmMeanwhile(first, given);
  }

  /**
   * A vote may have come after the numbers were compared and before there was a number to tell: its
   * node would keep an unconfirmed grant until the first renewal. Told twice, it refuses the
   * second.
   */
  private void confirmMeanwhile(Round<Vote> first, long[] given) {
    for (Node node : nodes.all) {
      if (given[node.index] == 0) {
        confirmLate(first, node.index);
      }
    }
  }

  private Reply<List<Object>> confirm(Node node, long given, long number) {
    return node.call(
        Purpose.CLAIMS,
        Script.REDLOCK_CONFIRM,
        request.keys(),
        run -> request.secondRound(run, given, number));
  }

  private boolean isConfirmedOrNever(Round<Confirmation> round) {
    int confirmed = round.count(Confirmation::confirmed);
    return confirmed >= nodes.majority || confirmed + round.pending() < nodes.majority;
  }

  private void secondRoundIsOver(Round<Vote> first, Round<Confirmation> second, long number) {
    for (Node node : nodes.all) {
      Confirmation answer = second.answer(node.index);
      if (answer != null) {
        seen.accumulateAndGet(request.bucket(), answer.number(), Math::max);
      }
    }
    if (second.count(Confirmation::confirmed) < nodes.majority) {
      boolean overtaken = second.count(answer -> !answer.confirmed()) > 0;
      RuntimeException cause =
          nodes.told(
              "Lock '%s' was granted, but not confirmed by a majority of nodes, "
                  .formatted(request.claim().name()),
              second.describe(answer -> answer.confirmed() ? "confirmed it" : "has lost it"));
      undo(
          first,
          overtaken ? new Lost(Obstacle.UNKNOWN, true, request.slots()) : new Undecided(cause));
    } else if (isTooLate(first)) {
      abandon(first, "its second round");
    } else {
      win(number, first);
    }
  }

  private void win(long number, Round<Vote> first) {
    if (first.pending() > 0) {
      ClaimRequest claim = request.claim();
      holds.unanswered(claim.owner(), claim.term(), first::dropResending);
    }
    outcome.complete(new Won(number, first.sent()));
  }

  /** A node granted after the numbers were compared: it is told the number, but does not count. */
  private void confirmLate(Round<Vote> first, int index) {
    if (first.answer(index) instanceof Granted granted && confirmedNumber > 0 && !failed) {
      confirm(nodes.all.get(index), granted.number(), confirmedNumber);
    }
  }

  // Failed attempts. ----------------------------------------------------------------------------

  private void abandon(Round<Vote> first, String when) {
    Duration taken = Duration.ofNanos(nodes.context.time().nanos() - first.sent().nanos());
    undo(
        first,
        new Undecided(
            nodes.told(
                "An attempt for lock '%s' was abandoned: more than half of its lease of %s had passed after %s (%s); "
                    .formatted(
                        request.claim().name(),
                        Durations.show(request.claim().lease()),
                        when,
                        Durations.show(taken)),
                first.describe(Ballot::inWords))));
  }

  private void lose(Round<Vote> first) {
    for (Node node : nodes.all) {
      Vote vote = first.answer(node.index);
      if (vote instanceof OtherMode other) {
        undo(
            first,
            new Impossible(
                Refusals.otherKind(
                    request.claim().name(),
                    request.claim().mode().family(),
                    Answers.family(other.total()))));
        return;
      }
      if (vote instanceof Overflow overflow) {
        undo(
            first,
            new Impossible(
                Refusals.numberTooLarge(
                    request.claim().name(), overflow.number(), GrantNumbers.MAX)));
        return;
      }
    }
    List<Refused> refusals = refusals(first);
    int granted = first.count(Granted.class::isInstance);
    if (first.refused() > nodes.spare()) {
      undo(
          first,
          new Impossible(
              nodes.refusal(
                  "The claim of lock '" + request.claim().name() + "'",
                  first.describe(Ballot::inWords))));
    } else if (refusals.size() + granted < nodes.majority) {
      undo(
          first,
          new Undecided(
              nodes.failure(
                  "A claim of lock '" + request.claim().name() + "'",
                  first.describe(Ballot::inWords))));
    } else {
      undo(first, lost(refusals, granted));
    }
  }

  private List<Refused> refusals(Round<Vote> first) {
    List<Refused> refusals = new ArrayList<>();
    for (Node node : nodes.all) {
      if (first.answer(node.index) instanceof Refused refused) {
        refusals.add(refused);
      }
    }
    return refusals;
  }

  private Lost lost(List<Refused> refusals, int granted) {
    Refused holder = null;
    int confirmed = 0;
    for (Refused refused : refusals) {
      confirmed += refused.tentative() ? 0 : 1;
      if (holder == null || isBetter(refused, holder)) {
        holder = refused;
      }
    }
    Obstacle obstacle =
        holder == null
            ? Obstacle.UNKNOWN
            : new Obstacle(holder.holder(), holder.number(), holder.remaining());
    if (request.claim().mode() instanceof Mode.Permits permits) {
      PermitSlots next =
          PermitSlots.among(
              permits, taken(refusals, permits), nodes.spare(), nodes.context.random());
      return new Lost(obstacle, !next.chosen().isEmpty(), next);
    }
    return new Lost(obstacle, confirmed <= nodes.spare() && granted > 0, PermitSlots.NONE);
  }

  /** Whether a refusal says more of who holds the name: holds before attempts, later ones first. */
  private static boolean isBetter(Refused refusal, Refused than) {
    if (refusal.tentative() != than.tentative()) {
      return than.tentative();
    }
    return refusal.number() > than.number();
  }

  private static int[] taken(List<Refused> refusals, Mode.Permits permits) {
    int[] taken = new int[permits.total()];
    for (Refused refused : refusals) {
      for (int slot : refused.slots()) {
        taken[slot]++;
      }
    }
    return taken;
  }

  private static String inWords(Vote vote) {
    if (vote instanceof Granted granted) {
      return "granted it as " + granted.number();
    }
    if (vote instanceof Refused refused) {
      return "refused it: held by " + refused.holder();
    }
    if (vote instanceof NoVote silent) {
      return "does not vote, since it was restarted or emptied"
          + (silent.leftMillis() < 0
              ? ""
              : " (for another " + Durations.show(Duration.ofMillis(silent.leftMillis())) + ")");
    }
    return vote instanceof Late
        ? "already knows a later attempt or the withdrawal of this claim"
        : "refused it";
  }

  /**
   * At all nodes; waits for as many as have answered the claim, since only they can answer this. A
   * claim whose connection has broken may still reach its node, which is told to turn it away.
   */
  private void undo(Round<Vote> first, Outcome outcomeOfAll) {
    failed = true;
    first.dropResending();
    int awaited = first.answered();
    long term = request.claim().term().toMillis();
    nodes
        .round(
            node -> true,
            node -> {
              long away = first.mayBeOnItsWay(node.index) ? term : 0;
              return node.call(
                  Purpose.CLAIMS, Script.REDLOCK_END, request.keys(), run -> undo(away));
            },
            Ended::parse)
        .until(round -> round.answered() >= awaited, nodes.timeoutNanos(request.claim().lease()))
        .thenAccept(round -> outcome.complete(outcomeOfAll));
  }

  private byte[][] undo(long awayMillis) {
    return RedlockRequest.withdrawal(
        request.claim().owner().bytes(), request.attempt(), awayMillis);
  }
}
