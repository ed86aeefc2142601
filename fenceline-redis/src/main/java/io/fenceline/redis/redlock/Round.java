package io.fenceline.redis.redlock;

import io.fenceline.redis.connection.Failures;
import io.fenceline.redis.connection.NoAnswerException;
import io.fenceline.redis.connection.Reply;
import io.fenceline.time.Lane;
import io.fenceline.time.Moment;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
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
 * still answered, or breaks its connection, but is too late for the round. An answer that says that
 * its node does not vote is heard of in any case, however late it is.
 *
 * @param <A> what an answer is parsed into
 */
final class Round<A> {
  private final Nodes nodes;
  private final List<Node> asked;
  private final Function<Node, Reply<List<Object>>> question;
  private final Function<List<Object>, A> parser;
  private final CompletableFuture<Round<A>> over = new CompletableFuture<>();
  private final List<Reply<List<Object>>> replies = new ArrayList<>();
  private final Moment sent;
  private Predicate<Round<A>> enough = round -> false;
  private @Nullable IntConsumer late;
  private @Nullable Runnable lost;

  // Guarded by this.
  private final List<@Nullable A> answers;
  private final @Nullable Throwable[] failures;
  private final long[] tookNanos;
  private int settled;
  private boolean patient = true;

  Round(
      Nodes nodes,
      List<Node> asked,
      Function<Node, Reply<List<Object>>> question,
      Function<List<Object>, A> parser) {
    this.nodes = nodes;
    this.asked = asked;
    this.question = question;
    this.parser = parser;
    this.sent = nodes.context.time().now();
    this.answers = new ArrayList<>(Collections.nCopies(nodes.size(), null));
    this.failures = new Throwable[nodes.size()];
    this.tookNanos = new long[nodes.size()];
  }

  /** Before the first request was sent. */
  Moment sent() {
    return sent;
  }

  /** Is told, by the node's place, of answers that come when the round is over. */
  Round<A> late(IntConsumer listener) {
    this.late = listener;
    return this;
  }

  /** Is told if a request was sent over a connection that has broken, so that it may come late. */
  Round<A> lost(Runnable listener) {
    this.lost = listener;
    return this;
  }

  /** Asks; over as soon as it is enough, or when the time is up. */
  CompletableFuture<Round<A>> until(Predicate<Round<A>> isEnough, long nanos) {
    return within(0, isEnough, nanos);
  }

  /**
   * Asks; for the first while all nodes are waited for, then it may be enough, and at the end it is
   * over anyway.
   */
  CompletableFuture<Round<A>> within(long patientNanos, Predicate<Round<A>> isEnough, long nanos) {
    this.enough = isEnough;
    this.patient = patientNanos > 0;
    Time time = nodes.context.time();
    for (Node node : asked) {
      Reply<List<Object>> reply = question.apply(node);
      replies.add(reply);
      if (lost != null) {
        reply.beforeGivingUp(lost);
      }
      reply.whenComplete((answer, failure) -> settle(node.index, answer, failure));
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

  private void settle(int index, @Nullable List<Object> answer, @Nullable Throwable failure) {
    A parsed = null;
    Throwable cause = Failures.unwrapped(failure);
    if (answer != null) {
      try {
        parsed = parser.apply(answer);
      } catch (RuntimeException e) {
        cause = e; // Not what our scripts answer: no answer.
      }
    }
    if (lost != null && mayBeOnItsWay(cause)) {
      lost.run();
    }
    settled(index, parsed, cause);
    if (parsed instanceof RedlockAnswers.OfVoter voter && !voter.votes()) {
      nodes.foundWithoutVote();
    }
  }

  private void settled(int index, @Nullable A answer, @Nullable Throwable failure) {
    boolean ends;
    synchronized (this) {
      answers.set(index, answer);
      failures[index] = failure;
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

  /** What is sent from now on comes after all that was sent for this round. */
  void dropResending() {
    replies.forEach(Reply::stop);
  }

  // What was answered. --------------------------------------------------------------------------

  /** The answer of a node; null if there is none. */
  synchronized @Nullable A answer(int index) {
    return answers.get(index);
  }

  /**
   * Whether a request was sent over a connection that has broken since, so that it may come late.
   */
  synchronized boolean mayBeOnItsWay(int index) {
    return mayBeOnItsWay(failures[index]);
  }

  private static boolean mayBeOnItsWay(@Nullable Throwable failure) {
    return failure instanceof NoAnswerException silence && silence.wasSent();
  }

  /** How many answers are of a kind. */
  synchronized int count(Predicate<? super A> kind) {
    int found = 0;
    for (A answer : answers) {
      if (answer != null && kind.test(answer)) {
        found++;
      }
    }
    return found;
  }

  /** How many nodes have refused for good. */
  synchronized int refused() {
    int found = 0;
    for (Throwable failure : failures) {
      found += Failures.isRefusal(failure) ? 1 : 0;
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
  synchronized List<NodeReport> describe(Function<? super A, String> inWords) {
    long now = nodes.context.time().nanos() - sent.nanos();
    List<NodeReport> all = new ArrayList<>();
    for (Node node : nodes.all) {
      A answer = answers.get(node.index);
      Throwable failure = failures[node.index];
      String words;
      if (answer != null) {
        words = inWords.apply(answer);
      } else if (failure != null) {
        words = "failed: " + Failures.words(failure);
      } else {
        words = asked.contains(node) ? "did not answer" : "was not asked";
      }
      long took = answer == null && failure == null ? now : tookNanos[node.index];
      all.add(new NodeReport(node.address, words, Duration.ofNanos(took)));
    }
    return all;
  }
}
