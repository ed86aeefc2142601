package io.fenceline.redis.redlock;

import io.fenceline.diagnosis.Finding;
import io.fenceline.redis.connection.Failures;
import io.fenceline.redis.connection.ReplicaWait;
import io.fenceline.redis.connection.SingleTopology;
import io.fenceline.redis.connection.Topology.Purpose;
import io.fenceline.redis.diagnostics.Diagnostics;
import io.fenceline.redis.redlock.RedlockAnswers.Memory;
import io.fenceline.settings.Durations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** Looks over the nodes of a Redlock: each as a server, and all of them as a majority. */
final class RedlockDiagnostics {
  private static final long MOST_SPREAD_MILLIS = 1_000;

  private final Nodes nodes;

  RedlockDiagnostics(Nodes nodes) {
    this.nodes = nodes;
  }

  CompletableFuture<List<Finding>> examine() {
    CompletableFuture<List<Finding>> findings = together();
    for (Node node : nodes.all) {
      CompletableFuture<List<Finding>> own = alone(node);
      findings =
          findings.thenCombine(
              own,
              (all, more) -> {
                all.addAll(more);
                return all;
              });
    }
    return findings;
  }

  private CompletableFuture<List<Finding>> alone(Node node) {
    if (!node.server().isConnected()) {
      return CompletableFuture.completedFuture(silent(node, "there is no connection"));
    }
    SingleTopology single = new SingleTopology(node.server(), nodes.context, "doctor");
    CompletableFuture<List<Finding>> findings =
        new Diagnostics(single, ReplicaWait.NONE, nodes.context.time())
            .examine()
            .thenApply(RedlockDiagnostics::forANode)
            .exceptionally(
                failure -> {
                  Throwable cause = Failures.unwrapped(failure);
                  return silent(node, cause == null ? "" : String.valueOf(cause.getMessage()));
                });
    // One that is silent must not keep us from telling of the others.
    nodes
        .context
        .time()
        .schedule(limitNanos(), () -> findings.complete(silent(node, "it took too long")));
    return findings;
  }

  private long limitNanos() {
    return nodes.context.operationTimeout().toNanos() * 2 / 3;
  }

  private static List<Finding> silent(Node node, String why) {
    return List.of(
        Finding.serious(
            "node",
            node + " does not answer: " + why,
            "one node fewer may fail before no lock can be acquired",
            "bring it back; it votes again after the longest lease"));
  }

  /** Persistence does not matter to a node: after a restart it waits, whatever it remembers. */
  private static List<Finding> forANode(List<Finding> findings) {
    return findings.stream().filter(finding -> !finding.check().equals("persistence")).toList();
  }

  private CompletableFuture<List<Finding>> together() {
    return Recovery.survey(nodes)
        .within(nodes.patienceNanos(), round -> round.answered() >= nodes.majority, limitNanos())
        .thenCombine(
            spread(),
            (survey, clocks) -> {
              List<Finding> findings = new ArrayList<>();
              findings.add(majority(survey));
              findings.add(size());
              findings.add(distinct());
              findings.add(clocks);
              return findings;
            });
  }

  private Finding majority(Round<Memory> survey) {
    int voting = survey.count(Memory::votes);
    String found =
        "%d of %d nodes vote, %d are needed".formatted(voting, nodes.size(), nodes.majority);
    if (voting == nodes.size()) {
      return Finding.ok("majority", found, nodes.spare() + " may fail");
    }
    String remedy = "start the missing nodes; one that was restarted votes after the longest lease";
    return voting >= nodes.majority
        ? Finding.note("majority", found, (voting - nodes.majority) + " more may fail", remedy)
        : Finding.serious("majority", found, "no lock can be acquired", remedy);
  }

  private Finding size() {
    String found = nodes.size() + " nodes";
    return nodes.size() % 2 == 1
        ? Finding.ok("nodes", found, "an odd number, as recommended")
        : Finding.note(
            "nodes",
            found,
            "an even number needs a larger majority, and survives no more failures",
            "use " + (nodes.size() - 1) + " or " + (nodes.size() + 1));
  }

  private Finding distinct() {
    Set<String> runs = new HashSet<>();
    for (Node node : nodes.all) {
      String run = node.lastRun();
      if (run != null && !runs.add(run)) {
        return Finding.serious(
            "independence",
            node + " is a server that is listed twice",
            "one failure counts twice, and so does one vote",
            "list each server once");
      }
    }
    return Finding.ok("independence", "no server is listed twice", "each vote is one server's");
  }

  private CompletableFuture<Finding> spread() {
    List<CompletableFuture<Long>> clocks = new ArrayList<>();
    for (Node node : nodes.all) {
      if (node.server().isConnected()) {
        CompletableFuture<List<byte[]>> time =
            node.server().connection(Purpose.CLAIMS).run("TIME", commands -> commands.time());
        CompletableFuture<Long> clock =
            time.thenApply(Diagnostics::millis).exceptionally(failure -> -1L);
        nodes.context.time().schedule(limitNanos(), () -> clock.complete(-1L));
        clocks.add(clock);
      }
    }
    return CompletableFuture.allOf(clocks.toArray(CompletableFuture<?>[]::new))
        .thenApply(
            done -> {
              List<Long> known =
                  clocks.stream()
                      .map(CompletableFuture::join)
                      .filter(c -> c >= 0)
                      .sorted()
                      .toList();
              return known.isEmpty()
                  ? spread(0)
                  : spread(known.get(known.size() - 1) - known.get(0));
            });
  }

  private static Finding spread(long millis) {
    String found =
        "the clocks of the nodes are up to " + Durations.show(Duration.ofMillis(millis)) + " apart";
    return millis <= MOST_SPREAD_MILLIS
        ? Finding.ok("clocks", found, "tokens go on rising if a majority is emptied")
        : Finding.note(
            "clocks",
            found,
            "leases are not affected by a difference, only by a jump; but if a majority is emptied,"
                + " tokens may not rise",
            "run NTP on all machines");
  }
}
