package io.fenceline.redis;

import io.fenceline.redis.NoQuorumException.NodeAnswer;
import io.fenceline.spi.Lane;
import io.fenceline.spi.Moment;
import io.fenceline.spi.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One question to many nodes at once, and what they have answered so far.
 *
 * <p>A round is over when all have answered, or as soon as what was answered is enough, or when
 * time is up. A request that could not be sent by then is not sent any more; one that was sent is
 * still answered, or breaks its connection, but is too late for the round.
 */
final class RedlockRound {
  private final RedlockNodes nodes;
  private final List<RedlockNode> asked;
  private final Function<RedlockNode, Reply<List<Object>>> question;
  private final CompletableFuture<RedlockRound> over = new CompletableFuture<>();
  private final List<Reply<List<Object>>> replies = new ArrayList<>();
  private final Moment sent;
  private Predicate<RedlockRound> enough = round -> false;
  private @Nullable IntConsumer late;

  // Guarded by this.
  private final @Nullable List<Object>[] answers;
  private final @Nullable Throwable[] failures;
  private final long[] tookNanos;
  private int settled;
  private boolean patient = true;

  @SuppressWarnings({"unchecked", "rawtypes"})
  RedlockRound(
      RedlockNodes nodes,
      List<RedlockNode> asked,
      Function<RedlockNode, Reply<List<Object>>> question) {
    this.nodes = nodes;
    this.asked = asked;
    this.question = question;
    this.sent = nodes.context.time().now();
    this.answers = new List[nodes.size()];
    this.failures = new Throwable[nodes.size()];
    this.tookNanos = new long[nodes.size()];
  }

  /** Before the first request was sent. */
  Moment sent() {
    return sent;
  }

  /** Is told, by the node's place, of answers that come when the round is over. */
  RedlockRound late(IntConsumer listener) {
    this.late = listener;
    return this;
  }

  /** Asks; over as soon as it is enough, or when the time is up. */
  CompletableFuture<RedlockRound> until(Predicate<RedlockRound> isEnough, long nanos) {
    return within(0, isEnough, nanos);
  }

  /**
   * Asks; for the first while all nodes are waited for, then it may be enough, and at the end it is
   * over anyway.
   */
  CompletableFuture<RedlockRound> within(
      long patientNanos, Predicate<RedlockRound> isEnough, long nanos) {
    this.enough = isEnough;
    this.patient = patientNanos > 0;
    Time time = nodes.context.time();
    for (RedlockNode node : asked) {
      Reply<List<Object>> reply = question.apply(node);
      replies.add(reply);
      reply.whenComplete((answer, failure) -> answered(node.index, answer, failure));
    }
    if (asked.isEmpty()) {
      over.complete(this);
    }
    if (!over.isDone()) {
      List<Time.Timer> timers = new ArrayList<>();
      if (patientNanos > 0) {
        timers.add(time.schedule(patientNanos, () -> work(this::patienceIsOver)));
      }
      timers.add(time.schedule(nanos, () -> work(this::timeIsUp)));
      over.whenComplete((round, failure) -> timers.forEach(Time.Timer::cancel));
    }
    return over;
  }

  private void work(Runnable task) {
    nodes.context.time().lane(Lane.WORK).execute(task);
  }

  private void answered(int index, @Nullable List<Object> answer, @Nullable Throwable failure) {
    boolean ends;
    synchronized (this) {
      answers[index] = answer;
      failures[index] = Failures.unwrapped(failure);
      tookNanos[index] = nodes.context.time().nanos() - sent.nanos();
      settled++;
      ends = settled == asked.size() || (!patient && !over.isDone() && enough.test(this));
    }
    if (over.isDone()) {
      IntConsumer listener = late;
      if (listener != null && answer != null) {
        listener.accept(index);
      }
    } else if (ends) {
      over.complete(this);
    }
  }

  private void patienceIsOver() {
    boolean ends;
    synchronized (this) {
      patient = false;
      ends = enough.test(this);
    }
    if (ends) {
      dropUnsent();
      over.complete(this);
    }
  }

  private void timeIsUp() {
    dropUnsent();
    over.complete(this);
  }

  private void dropUnsent() {
    replies.forEach(Reply::dropUnsent);
  }

  // What was answered. --------------------------------------------------------------------------

  /** The answer of a node; null if there is none. */
  synchronized @Nullable List<Object> answer(int index) {
    return answers[index];
  }

  /** How many answers are of a kind. */
  synchronized int count(Predicate<List<Object>> kind) {
    int found = 0;
    for (List<Object> answer : answers) {
      if (answer != null && kind.test(answer)) {
        found++;
      }
    }
    return found;
  }

  /** How many nodes have answered. */
  int answered() {
    return count(answer -> true);
  }

  /** How many have neither answered nor failed yet. */
  synchronized int pending() {
    return asked.size() - settled;
  }

  /** All nodes in words, for an error. */
  synchronized List<NodeAnswer> describe(Function<List<Object>, String> inWords) {
    long now = nodes.context.time().nanos() - sent.nanos();
    List<NodeAnswer> all = new ArrayList<>();
    for (RedlockNode node : nodes.all) {
      List<Object> answer = answers[node.index];
      Throwable failure = failures[node.index];
      String words;
      if (answer != null) {
        words = inWords.apply(answer);
      } else if (failure != null) {
        words = "failed: " + failure.getMessage();
      } else {
        words = asked.contains(node) ? "did not answer" : "was not asked";
      }
      long took = answer == null && failure == null ? now : tookNanos[node.index];
      all.add(new NodeAnswer(node.address, words, Duration.ofNanos(took)));
    }
    return all;
  }
}
