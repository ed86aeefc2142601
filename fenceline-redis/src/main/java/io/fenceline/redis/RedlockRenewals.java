package io.fenceline.redis;

import static io.fenceline.redis.Answers.number;
import static io.fenceline.redis.Layout.bytes;

import io.fenceline.redis.Topology.Purpose;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Owner;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.Validity;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * Renews holds by a majority of nodes, many with one call to each of them.
 *
 * <p>A node that lacks a hold gets it back: one that has lost its memory counts as soon as it has
 * it again, since it has granted the name to nobody meanwhile; any other one only once a majority
 * has renewed it.
 */
final class RedlockRenewals {
  private static final int MOST_AT_ONCE = 128;
  private static final int NAME_KEY = 2;

  private final RedlockNodes nodes;
  private final byte[] client;
  private final Function<Owner, RedlockSlots> slots;
  private final Runnable whenSomeDoNotVote;

  /** One hold to be renewed, and who waits for the answer. */
  private record Job(RenewRequest request, CompletableFuture<Renewal> answer) {
    ClaimRequest claim() {
      return request.grant().claim();
    }
  }

  RedlockRenewals(
      RedlockNodes nodes,
      byte[] client,
      Function<Owner, RedlockSlots> slots,
      Runnable whenSomeDoNotVote) {
    this.nodes = nodes;
    this.client = client;
    this.slots = slots;
    this.whenSomeDoNotVote = whenSomeDoNotVote;
  }

  List<CompletableFuture<Renewal>> renew(List<RenewRequest> requests) {
    List<Job> jobs =
        requests.stream().map(request -> new Job(request, new CompletableFuture<>())).toList();
    for (int from = 0; from < jobs.size(); from += MOST_AT_ONCE) {
      send(jobs.subList(from, Math.min(jobs.size(), from + MOST_AT_ONCE)));
    }
    return jobs.stream().map(Job::answer).toList();
  }

  private void send(List<Job> jobs) {
    byte[][] keys = new byte[NAME_KEY + jobs.size()][];
    keys[0] = RedlockLayout.STATE;
    keys[1] = RedlockLayout.INDEX;
    byte[][] args = new byte[1 + 2 * jobs.size()][];
    Duration shortest = jobs.get(0).request.lease();
    for (int i = 0; i < jobs.size(); i++) {
      Job job = jobs.get(i);
      keys[NAME_KEY + i] = RedlockLayout.name(job.claim().name());
      args[1 + 2 * i] = job.claim().owner().bytes();
      args[2 + 2 * i] = bytes(job.request.lease().plus(job.claim().delay()).toMillis());
      if (job.request.lease().compareTo(shortest) < 0) {
        shortest = job.request.lease();
      }
    }
    nodes
        .round(
            Purpose.RENEWALS,
            Script.REDLOCK_RENEW,
            keys,
            run -> {
              byte[][] withRun = args.clone();
              withRun[0] = run;
              return withRun;
            })
        // A renewal is due after a third of the lease; while a majority is missing, another third
        // is
        // worth waiting for it.
        .within(
            nodes.timeoutNanos(shortest),
            round -> round.answered() >= nodes.majority && allRenewed(round, jobs.size()),
            shortest.toNanos() / 3)
        .thenAccept(round -> answered(jobs, round));
  }

  private boolean allRenewed(RedlockRound round, int count) {
    for (int i = 1; i <= count; i++) {
      if (renewed(round, i) < nodes.majority) {
        return false;
      }
    }
    return true;
  }

  private static int renewed(RedlockRound round, int place) {
    return round.count(answer -> number(answer.get(place)) == 1);
  }

  private void answered(List<Job> jobs, RedlockRound round) {
    if (round.count(answer -> number(answer.get(0)) == 0) > 0) {
      whenSomeDoNotVote.run();
    }
    for (int i = 0; i < jobs.size(); i++) {
      answered(jobs.get(i), i + 1, round);
    }
  }

  private void answered(Job job, int place, RedlockRound round) {
    List<RedlockNode> forgetful = new ArrayList<>();
    List<RedlockNode> others = new ArrayList<>();
    for (RedlockNode node : nodes.all) {
      List<Object> answer = round.answer(node.index);
      if (answer != null && number(answer.get(place)) == 0) {
        (number(answer.get(0)) == 0 ? forgetful : others).add(node);
      }
    }
    int renewed = renewed(round, place);
    if (renewed >= nodes.majority) {
      job.answer.complete(renewed(job, round));
      forgetful.addAll(others);
      if (!forgetful.isEmpty()) {
        restore(job, forgetful);
      }
    } else if (others.size() > nodes.spare()) {
      job.answer.complete(Renewal.GONE);
    } else if (renewed + forgetful.size() < nodes.majority) {
      fail(job, round, place);
    } else {
      restore(job, forgetful)
          .thenAccept(
              restored -> {
                if (renewed + restored.count(a -> number(a.get(0)) == 1) >= nodes.majority) {
                  job.answer.complete(renewed(job, round));
                } else {
                  fail(job, round, place);
                }
              });
    }
  }

  /** The lease counts from before the first round, whatever the second one took. */
  private static Renewal renewed(Job job, RedlockRound round) {
    return new Renewal.Renewed(new Validity(round.sent(), job.request.lease()));
  }

  private void fail(Job job, RedlockRound round, int place) {
    job.answer.completeExceptionally(
        nodes.failure(
            "The renewal of lock '" + job.claim().name() + "'",
            round.describe(
                answer -> number(answer.get(place)) == 1 ? "renewed it" : "does not have it")));
  }

  private CompletableFuture<RedlockRound> restore(Job job, List<RedlockNode> where) {
    RedlockRequest request = RedlockRequest.of(job.claim(), slots.apply(job.claim().owner()));
    long millis = job.request.lease().toMillis();
    return nodes
        .round(
            where::contains,
            node ->
                node.call(
                    Purpose.RENEWALS,
                    Script.REDLOCK_RESTORE,
                    request.keys(),
                    run -> request.restoration(job.request.grant().number(), millis, client)))
        .until(round -> false, nodes.longTimeoutNanos(job.request.lease()));
  }
}
