package io.fenceline.redis.redlock;

import static io.fenceline.redis.layout.Layout.bytes;

import io.fenceline.redis.connection.Reply;
import io.fenceline.redis.connection.Topology.Purpose;
import io.fenceline.redis.layout.Script;
import io.fenceline.redis.redlock.RedlockAnswers.Renewed;
import io.fenceline.redis.redlock.RedlockAnswers.Restored;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Owner;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.Validity;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Renews holds by a majority of nodes, many with one call to each of them.
 *
 * <p>A node that lacks a hold is given it, and counts as soon as it has it.
 */
final class RedlockRenewals {
  /*
   * Why a node counts that is given the hold now. A holder believes in its hold only while a majority
   * has it: those that have renewed it, and those that were given it, have it for a lease from after
   * the sending. Whoever else holds the name had a majority, too, and with it one of these nodes; and a
   * node takes the hold only if nothing is in its way there.
   *
   * That the hold was not lost and taken by others in between is for the runtime to see: a renewal that
   * is answered after the hold's own deadline is not believed. Until then the nodes that had it before
   * still have it, so nobody else has come and gone.
   *
   * Why a renewal that is longer than the claim is made twice. A node that has renewed it may lose its
   * memory before the others have, and waits for the longest term that they know of: so a majority has
   * to know the longer one before it counts.
   *
   * A gift that arrives after the release would leave a grant that nobody owns. So none is sent once
   * the hold has ended, and a release, while a gift is not answered, tells the nodes to turn it away.
   */
  private static final int MOST_AT_ONCE = 128;
  private static final int NAME_KEY = 2;

  private final Nodes nodes;
  private final byte[] client;
  private final OwnPermits holds;

  /** One hold to be renewed, and who waits for the answer. */
  private record Job(RenewRequest request, CompletableFuture<Renewal> answer) {
    ClaimRequest claim() {
      return request.grant().claim();
    }

    Duration term() {
      return request.lease().plus(claim().delay());
    }

    boolean isLonger() {
      return term().compareTo(claim().term()) > 0;
    }
  }

  RedlockRenewals(Nodes nodes, byte[] client, OwnPermits holds) {
    this.nodes = nodes;
    this.client = client;
    this.holds = holds;
  }

  List<CompletableFuture<Renewal>> renew(List<RenewRequest> requests) {
    List<Job> jobs =
        requests.stream().map(request -> new Job(request, new CompletableFuture<>())).toList();
    for (Job job : jobs) {
      Owner owner = job.claim().owner();
      holds.renewing(owner, job.term());
      job.answer.whenComplete((renewal, failure) -> holds.renewed(owner, job.term()));
    }
    List<Job> sent = jobs.stream().map(job -> job.isLonger() ? announcement(job) : job).toList();
    for (int from = 0; from < sent.size(); from += MOST_AT_ONCE) {
      send(sent.subList(from, Math.min(sent.size(), from + MOST_AT_ONCE)));
    }
    return jobs.stream().map(Job::answer).toList();
  }

  /** The same renewal, after which a majority knows of the longer term; then it is made itself. */
  private Job announcement(Job job) {
    Job first = new Job(job.request, new CompletableFuture<>());
    first.answer.whenComplete(
        (renewal, failure) -> {
          if (failure != null) {
            job.answer.completeExceptionally(failure);
          } else if (renewal instanceof Renewal.Renewed) {
            send(List.of(job));
          } else {
            job.answer.complete(renewal);
          }
        });
    return first;
  }

  private void send(List<Job> jobs) {
    byte[][] keys = new byte[NAME_KEY + jobs.size()][];
    keys[0] = RedlockLayout.STATE;
    keys[1] = RedlockLayout.INDEX;
    byte[][] args = new byte[1 + 3 * jobs.size()][];
    Duration shortest = jobs.get(0).request.lease();
    for (int i = 0; i < jobs.size(); i++) {
      Job job = jobs.get(i);
      keys[NAME_KEY + i] = RedlockLayout.name(job.claim().name());
      args[1 + 3 * i] = job.claim().owner().bytes();
      args[2 + 3 * i] = bytes(job.request.grant().number());
      args[3 + 3 * i] = bytes(job.term().toMillis());
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
            },
            Renewed::parse)
        // Due after a third of the lease; another third is worth waiting for a majority.
        .within(
            nodes.timeoutNanos(shortest),
            round -> round.answered() >= nodes.majority && allRenewed(round, jobs.size()),
            shortest.toNanos() / 3)
        .thenAccept(round -> answered(jobs, round));
  }

  private boolean allRenewed(Round<Renewed> round, int count) {
    for (int i = 0; i < count; i++) {
      if (renewed(round, i) < nodes.majority) {
        return false;
      }
    }
    return true;
  }

  private static int renewed(Round<Renewed> round, int place) {
    return round.count(answer -> answer.has(place));
  }

  private void answered(List<Job> jobs, Round<Renewed> round) {
    for (int i = 0; i < jobs.size(); i++) {
      answered(jobs.get(i), i, round);
    }
  }

  private void answered(Job job, int place, Round<Renewed> round) {
    List<Node> lacking = new ArrayList<>();
    int refusing = 0;
    for (Node node : nodes.all) {
      Renewed answer = round.answer(node.index);
      if (answer != null && !answer.has(place)) {
        lacking.add(node);
        refusing += answer.votes() ? 1 : 0;
      }
    }
    int renewed = renewed(round, place);
    if (renewed >= nodes.majority) {
      restore(job, lacking, nodes.size());
      job.answer.complete(renewed(job, round));
    } else if (refusing > nodes.spare()) {
      job.answer.complete(Renewal.GONE); // By what they remember, no majority has it.
    } else if (renewed + lacking.size() < nodes.majority) {
      fail(job, round, place);
    } else {
      restore(job, lacking, nodes.majority - renewed)
          .thenAccept(
              restored -> {
                if (renewed + restored.count(Restored::done) >= nodes.majority) {
                  job.answer.complete(renewed(job, round));
                } else {
                  fail(job, round, place);
                }
              });
    }
  }

  /** The lease counts from before the first round, whatever the second one took. */
  private static Renewal renewed(Job job, Round<Renewed> round) {
    return new Renewal.Renewed(new Validity(round.sent(), job.request.lease()));
  }

  private void fail(Job job, Round<Renewed> round, int place) {
    job.answer.completeExceptionally(
        nodes.failure(
            "The renewal of lock '" + job.claim().name() + "'",
            round.describe(answer -> answer.has(place) ? "renewed it" : "does not have it")));
  }

  /** Gives a hold to nodes that lack it; over when so many have it. */
  private CompletableFuture<Round<Restored>> restore(Job job, List<Node> lacking, int needed) {
    Owner owner = job.claim().owner();
    RedlockRequest request =
        RedlockRequest.of(job.claim(), holds.slots(owner), RedlockRequest.HELD);
    long millis = job.request.lease().toMillis();
    return nodes
        .round(
            node -> lacking.contains(node) && holds.giving(owner, job.term()),
            node -> {
              Reply<List<Object>> reply =
                  node.call(
                      Purpose.RENEWALS,
                      Script.REDLOCK_RESTORE,
                      request.keys(),
                      run ->
                          request.restoration(run, job.request.grant().number(), millis, client));
              reply.thenRun(() -> holds.given(owner));
              return reply;
            },
            Restored::parse)
        .until(
            round -> round.count(Restored::done) >= needed,
            nodes.longTimeoutNanos(job.request.lease()));
  }
}
