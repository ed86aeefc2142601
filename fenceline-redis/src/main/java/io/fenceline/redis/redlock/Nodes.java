package io.fenceline.redis.redlock;

import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.redis.connection.Reply;
import io.fenceline.redis.connection.Topology.Purpose;
import io.fenceline.redis.layout.Script;
import io.fenceline.spi.StoreContext;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** All nodes of a Redlock, how many of them are enough, and how long they have to answer. */
final class Nodes {
  /** At most this part of a lease is waited for a node. */
  private static final int SHARE_OF_LEASE = 10;

  final List<Node> all;
  final int majority;
  final StoreContext context;
  private final String description;
  private final long nodeTimeoutNanos;
  private volatile Runnable whenFoundWithoutVote = () -> {};

  Nodes(List<Node> all, StoreContext context, RedlockSettings settings) {
    this.all = List.copyOf(all);
    this.majority = all.size() / 2 + 1;
    this.context = context;
    this.description = settings.description();
    this.nodeTimeoutNanos = settings.nodeTimeout().toNanos();
  }

  int size() {
    return all.size();
  }

  /** How many nodes may be missing: with one more, no majority is left. */
  int spare() {
    return all.size() - majority;
  }

  String description() {
    return description;
  }

  /** How long a node has to answer a request about a lease. */
  long timeoutNanos(Duration lease) {
    return Math.min(nodeTimeoutNanos, longTimeoutNanos(lease));
  }

  /** How long a node has that is worth waiting for, because a majority is still missing. */
  long longTimeoutNanos(Duration lease) {
    return Math.max(1_000_000, lease.toNanos() / SHARE_OF_LEASE);
  }

  /** How long a node has to answer what is not about a lease. */
  long patienceNanos() {
    return nodeTimeoutNanos;
  }

  /** How long all of them have to answer before a request has failed. */
  long longPatienceNanos() {
    return Math.max(nodeTimeoutNanos, context.operationTimeout().toNanos() * 9 / 10);
  }

  /** Who takes care of nodes that do not vote. */
  void whenFoundWithoutVote(Runnable recovery) {
    whenFoundWithoutVote = recovery;
  }

  /** A node has answered that it does not vote. */
  void foundWithoutVote() {
    whenFoundWithoutVote.run();
  }

  /** A round of questions to all nodes. */
  <A> Round<A> round(
      Purpose purpose,
      Script script,
      byte[][] keys,
      Function<byte[], byte[][]> args,
      Function<List<Object>, A> parser) {
    return new Round<>(this, all, node -> node.call(purpose, script, keys, args), parser);
  }

  /** A round in which each node is asked something of its own; some may be left out. */
  <A> Round<A> round(
      Predicate<Node> asked,
      Function<Node, Reply<List<Object>>> question,
      Function<List<Object>, A> parser) {
    return new Round<>(this, all.stream().filter(asked).toList(), question, parser);
  }

  /** Too few nodes did what they were asked for. */
  StoreUnavailableException failure(String what, List<NodeReport> answers) {
    return told(what + " found no majority of nodes, ", answers);
  }

  /** As above, in other words. */
  StoreUnavailableException told(String what, List<NodeReport> answers) {
    return new StoreUnavailableException(description, what + inWords(answers), null);
  }

  /** So many nodes have refused for good that no majority is left. */
  StoreRefusedException refusal(String what, List<NodeReport> answers) {
    return new StoreRefusedException(
        "%s was refused by too many nodes, %s (store=%s)"
            .formatted(what, inWords(answers), description),
        null);
  }

  private String inWords(List<NodeReport> answers) {
    return answers.stream()
        .map(NodeReport::toString)
        .collect(
            Collectors.joining("; ", "needed " + majority + " of " + answers.size() + ": ", ""));
  }
}
