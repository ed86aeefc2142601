package io.fenceline.recipes.election;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.LockLostException;
import io.fenceline.memory.MemorySpace;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import io.fenceline.testkit.fault.LossyStore;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What an election does, by a time that the test owns. */
class ElectionTest {
  private static final Duration AMPLE = Duration.ofSeconds(30);
  private static final Duration LEASE = Duration.ofSeconds(30);

  private final ManualTime time = new ManualTime();
  private final MemorySpace space = MemorySpace.create(time::wallMillis);
  private final List<AutoCloseable> opened = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (int i = opened.size() - 1; i >= 0; i--) {
      opened.get(i).close();
    }
  }

  private Fenceline client(String label) {
    return client(label, time, space.factory());
  }

  private Fenceline client(String label, Time its, StoreFactory store) {
    Fenceline client = Fenceline.builder().store(store).time(its).label(label).connect();
    opened.add(client);
    return client;
  }

  private Candidate kept(Candidate candidate) {
    opened.add(candidate);
    return candidate;
  }

  private Candidate campaign(String label) {
    return kept(Election.of(client(label), "reports").campaign());
  }

  private static Leadership elected(Candidate candidate) {
    return Eventually.until(
            AMPLE, candidate + " to lead", candidate::leadership, Optional::isPresent)
        .orElseThrow();
  }

  private static void awaitState(Candidate candidate, Candidate.State state) {
    Eventually.until(AMPLE, candidate + " to be " + state, candidate::state, state::equals);
  }

  /** Waits until someone stands in the store's queue. */
  private void awaitWaiters(Fenceline client, int count) {
    Eventually.until(
        AMPLE,
        count + " waiters",
        () -> client.inspect("reports").waiters().size(),
        found -> found == count);
  }

  @Test
  void oneLeadsAtATime_andTheNextHasALargerTerm() {
    Candidate a = campaign("a");
    Leadership first = elected(a);
    Fenceline other = client("b");
    Candidate b = kept(Election.of(other, "reports").campaign());
    awaitWaiters(other, 1);
    assertThat(b.leadership()).isEmpty();
    assertThat(first.isValid()).isTrue();
    assertThat(first.name()).isEqualTo("reports");
    assertThat(first.remaining()).isBetween(Duration.ofSeconds(25), LEASE);

    a.close();

    Leadership second = elected(b);
    assertThat(second.term()).isGreaterThan(first.term());
    assertThat(first.isValid()).isFalse();
    assertThat(a.leadership()).isEmpty();
    assertThat(a.state()).isEqualTo(Candidate.State.CLOSED);
    assertThatThrownBy(() -> first.ensure(Duration.ofSeconds(1)))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void leaderThatRuns_keepsItsTerm() {
    Leadership leadership = elected(campaign("a"));
    time.advance(Duration.ofHours(5));
    assertThat(leadership.isValid()).isTrue();
  }

  @Test
  void lossOfTheLock_interruptsTheTaskAtItsDeadline_andNotBefore() throws Exception {
    LossyStore[] store = new LossyStore[1];
    Fenceline client =
        client("a", time, context -> store[0] = new LossyStore(space.factory(), context));
    List<String> seen = new CopyOnWriteArrayList<>();
    CountDownLatch interrupted = new CountDownLatch(1);
    Candidate candidate =
        kept(
            Election.of(client, "reports")
                .campaign(
                    leadership -> {
                      leadership.onLost(reason -> seen.add("told " + reason));
                      try {
                        new CountDownLatch(1).await();
                      } catch (InterruptedException e) {
                        seen.add("valid " + leadership.isValid());
                        interrupted.countDown();
                      }
                    }));
    Leadership leadership = elected(candidate);
    Eventually.until(AMPLE, "a listener", () -> candidate.state() == Candidate.State.LEADING);
    store[0].fault(LossyStore.Operation.RENEW, LossyStore.Fault.LOSE_REQUEST);
    Duration left = leadership.remaining();

    time.advance(left.minusMillis(1));
    assertThat(interrupted.getCount()).isEqualTo(1);
    assertThat(leadership.isValid()).isTrue();

    time.advance(Duration.ofMillis(2));
    assertThat(leadership.isValid()).isFalse();
    assertThat(candidate.leadership())
        .as("none, or that of a new term")
        .isNotEqualTo(Optional.of(leadership));
    assertThat(interrupted.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(seen).contains("valid false", "told LOST");
    assertThatThrownBy(() -> leadership.ensure(Duration.ofSeconds(1)))
        .isInstanceOfAny(LockLostException.class, IllegalStateException.class);
    store[0].heal();
  }

  /** An executor of the user that is too busy to run anything. */
  private record BusyTime(Time time) implements Time {
    @Override
    public long nanos() {
      return time.nanos();
    }

    @Override
    public long wallMillis() {
      return time.wallMillis();
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
      return time.schedule(delayNanos, task);
    }

    @Override
    public Executor lane(Lane lane) {
      return lane == Lane.LOSS ? task -> {} : time.lane(lane);
    }

    @Override
    public void park(Object blocker, long maxNanos) {
      time.park(blocker, maxNanos);
    }

    @Override
    public void close() {}
  }

  @Test
  void deadlineIsKept_thoughTheExecutorOfTheClientIsBusy() throws Exception {
    LossyStore[] store = new LossyStore[1];
    Fenceline client =
        client(
            "a",
            new BusyTime(time),
            context -> store[0] = new LossyStore(space.factory(), context));
    CountDownLatch interrupted = new CountDownLatch(1);
    Candidate candidate =
        kept(
            Election.of(client, "reports")
                .campaign(
                    leadership -> {
                      try {
                        new CountDownLatch(1).await();
                      } catch (InterruptedException e) {
                        interrupted.countDown();
                      }
                    }));
    elected(candidate);
    store[0].fault(LossyStore.Operation.RENEW, LossyStore.Fault.LOSE_REQUEST);
    time.advance(LEASE);
    assertThat(interrupted.await(30, TimeUnit.SECONDS)).isTrue();
    store[0].heal();
  }

  @Test
  void resigning_letsTheNextOneIn_andCampaignsAgain() {
    Fenceline first = client("a");
    Candidate a = kept(Election.of(first, "reports").campaign());
    long term = elected(a).term();
    Candidate b = campaign("b");
    awaitWaiters(first, 1);

    assertThat(b.resign()).isFalse();
    assertThat(a.resign()).isTrue();
    Leadership next = elected(b);
    assertThat(next.term()).isGreaterThan(term);
    awaitState(a, Candidate.State.BACKING_OFF);
    assertThat(a.resign()).isFalse();

    time.advance(Duration.ofSeconds(1));
    awaitWaiters(first, 1);
    assertThat(next.isValid()).isTrue();
    b.close();
    assertThat(elected(a).term()).isGreaterThan(next.term());
  }

  @Test
  void longestTerm_rotates() throws Exception {
    BlockingQueue<TermEnd> told = new LinkedBlockingQueue<>();
    Fenceline first = client("a");
    Candidate a =
        kept(
            Election.of(first, "reports")
                .longestTerm(Duration.ofMinutes(10))
                .campaign(
                    leadership -> {
                      leadership.onLost(told::add);
                      leadership.awaitEnd(Duration.ofDays(1));
                    }));
    elected(a);
    Candidate b = campaign("b");
    awaitWaiters(first, 1);
    time.advance(Duration.ofMinutes(9));
    assertThat(a.leadership()).isPresent();
    time.advance(Duration.ofMinutes(1));
    assertThat(told.poll(30, TimeUnit.SECONDS)).isEqualTo(TermEnd.TERM_LIMIT);
    elected(b);
  }

  @Test
  void failingTask_backsOffTwiceAsLongEachTime_upToTheLongest() {
    List<Long> starts = new CopyOnWriteArrayList<>();
    Candidate candidate =
        kept(
            Election.of(client("a"), "reports")
                .backOff(Duration.ofSeconds(1), Duration.ofSeconds(3))
                .campaign(
                    leadership -> {
                      starts.add(time.nanos());
                      if (starts.size() != 4) {
                        throw new IllegalStateException("planted");
                      }
                    }));
    // After failures 1s, 2s and, at the longest, 3s; then 1s after a success, and after a failure.
    int[] pauses = {1, 2, 3, 1, 1};
    for (int i = 0; i < pauses.length; i++) {
      int known = i + 1;
      Eventually.until(AMPLE, "a run", () -> starts.size() >= known);
      Eventually.until(
          AMPLE,
          "the next run",
          () -> {
            time.advance(Duration.ofMillis(100));
            return starts.size() > known;
          });
      assertThat(Duration.ofNanos(starts.get(i + 1) - starts.get(i)))
          .as("the pause after run %d", i + 1)
          .isGreaterThanOrEqualTo(Duration.ofSeconds(pauses[i]));
    }
    assertThat(candidate.state()).isNotEqualTo(Candidate.State.CLOSED);
  }

  @Test
  void taskThatNeverReturns_isToldAndInterrupted_andOthersAreLetIn() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    AtomicInteger interrupts = new AtomicInteger();
    CountDownLatch end = new CountDownLatch(1);
    BlockingQueue<TermEnd> told = new LinkedBlockingQueue<>();
    Fenceline first = client("a");
    Candidate a =
        Election.of(first, "reports")
            .stopWithin(Duration.ofSeconds(5))
            .campaign(
                leadership -> {
                  leadership.onLost(told::add);
                  begun.countDown();
                  while (end.getCount() > 0) {
                    LockSupport.park();
                    if (Thread.interrupted()) {
                      interrupts.incrementAndGet();
                    }
                  }
                });
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    Leadership stuck = elected(a);
    Candidate b = campaign("b");
    awaitWaiters(first, 1);

    Thread closer = new Thread(a::close);
    closer.start();
    assertThat(told.poll(30, TimeUnit.SECONDS)).isEqualTo(TermEnd.CLOSED);
    Eventually.until(AMPLE, "the interrupt", () -> interrupts.get() == 1);
    time.advance(Duration.ofMillis(4_999));
    assertThat(b.leadership()).isEmpty();
    assertThat(stuck.isValid()).as("while it may still stop").isTrue();
    time.advance(Duration.ofMillis(1));

    assertThat(elected(b).term()).isGreaterThan(stuck.term());
    assertThat(stuck.isValid()).isFalse();
    closer.join(30_000);
    assertThat(closer.isAlive()).isFalse();
    end.countDown();
    Eventually.until(
        AMPLE,
        "the task to end",
        () -> {
          Thread.getAllStackTraces().keySet().stream()
              .filter(thread -> thread.getName().equals("fenceline-election-reports"))
              .forEach(LockSupport::unpark);
          return a.state() == Candidate.State.CLOSED;
        });
  }

  @Test
  void closeFromTheTask_doesNotWaitForItself() throws Exception {
    Candidate[] self = new Candidate[1];
    CountDownLatch ready = new CountDownLatch(1);
    self[0] =
        Election.of(client("a"), "reports")
            .campaign(
                leadership -> {
                  ready.await();
                  self[0].close();
                });
    ready.countDown();
    awaitState(self[0], Candidate.State.CLOSED);
  }

  @Test
  void everything_isGivenBack_whenACandidateIsClosed() {
    Fenceline client = client("a");
    client.lock("reports").tryAcquire().orElseThrow().close();
    time.advance(LEASE.multipliedBy(2));
    int before = time.timers();
    Candidate a = Election.of(client, "reports").longestTerm(Duration.ofHours(1)).campaign();
    elected(a);
    a.close();
    a.close();
    assertThat(client.inspect("reports").isFree()).isTrue();
    time.advance(LEASE.multipliedBy(2)); // What the client itself looks after ends by then.
    assertThat(time.timers()).isEqualTo(before);
    Candidate waiting = Election.of(client("b"), "reports").campaign();
    Leadership held = elected(waiting);
    Candidate second = Election.of(client, "reports").campaign();
    awaitWaiters(client, 1);
    second.close();
    awaitWaiters(client, 0);
    assertThat(held.isValid()).isTrue();
    waiting.close();
  }

  @Test
  void closedClient_endsItsCandidates() {
    Fenceline client = client("a");
    Candidate leading = Election.of(client, "reports").campaign();
    elected(leading);
    Candidate waiting = Election.of(client, "reports").campaign();
    client.close();
    awaitState(leading, Candidate.State.CLOSED);
    awaitState(waiting, Candidate.State.CLOSED);
    assertThat(leading.leadership()).isEmpty();
  }

  @Test
  void periodicWork_runsOnTheLeader_andEndsWithTheTerm() throws Exception {
    BlockingQueue<Long> runs = new LinkedBlockingQueue<>();
    Fenceline first = client("a");
    Candidate a =
        kept(
            Election.of(first, "reports")
                .campaignEvery(Duration.ofMinutes(1), leadership -> runs.add(leadership.term())));
    assertThat(runs.poll(30, TimeUnit.SECONDS)).isEqualTo(elected(a).term());
    time.awaitParked(1);
    time.advance(Duration.ofSeconds(59));
    assertThat(runs).isEmpty();
    time.advance(Duration.ofSeconds(1));
    assertThat(runs.poll(30, TimeUnit.SECONDS)).isEqualTo(elected(a).term());

    a.close();
    time.advance(Duration.ofMinutes(10));
    assertThat(runs).isEmpty();
  }

  @Test
  void watching_showsLabelTermAndSince_withoutBeingACandidate() throws Exception {
    Election seen = Election.of(client("watcher"), "reports");
    BlockingQueue<Optional<Leader>> news = new LinkedBlockingQueue<>();
    Watch watch = seen.watch(Duration.ofSeconds(1), news::add);
    opened.add(watch);
    assertThat(news.poll(30, TimeUnit.SECONDS)).isEmpty();
    assertThat(seen.leader()).isEmpty();
    assertThat(seen.awaitLeader(Duration.ZERO)).isEmpty();

    Candidate a = campaign("billing-1");
    Leadership leadership = elected(a);
    time.advance(Duration.ofSeconds(1));
    Leader leader = news.poll(30, TimeUnit.SECONDS).orElseThrow();
    assertThat(leader.label()).isEqualTo("billing-1");
    assertThat(leader.term()).isEqualTo(leadership.term());
    assertThat(leader.since()).isEqualTo(leadership.since());
    assertThat(leader.pid()).isEqualTo(ProcessHandle.current().pid());
    assertThat(seen.awaitLeader(Duration.ofSeconds(5))).map(Leader::term).hasValue(leader.term());
    time.advance(Duration.ofSeconds(10));
    assertThat(news).as("no news").isEmpty();

    a.close();
    time.advance(Duration.ofSeconds(1));
    assertThat(news.poll(30, TimeUnit.SECONDS)).isEmpty();
    watch.close();
    campaign("billing-2");
    time.advance(Duration.ofSeconds(10));
    assertThat(news).isEmpty();
  }

  @Test
  void awaitingALeader_endsWhenThereIsOne() throws Exception {
    Election seen = Election.of(client("watcher"), "reports");
    BlockingQueue<Optional<Leader>> found = new LinkedBlockingQueue<>();
    Thread waiter =
        new Thread(
            () -> {
              try {
                found.add(seen.awaitLeader(Duration.ofMinutes(1)));
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
            });
    waiter.start();
    time.awaitParked(1);
    Candidate a = campaign("a");
    Optional<Leadership> awaited = a.awaitLeadership(Duration.ofMinutes(1));
    time.advance(Duration.ofSeconds(1));
    assertThat(found.poll(30, TimeUnit.SECONDS))
        .map(Leader::term)
        .isEqualTo(awaited.map(Leadership::term));
  }

  @Test
  void storeThatIsDown_isAskedAgain() {
    LossyStore[] store = new LossyStore[1];
    Fenceline client =
        client("a", time, context -> store[0] = new LossyStore(space.factory(), context));
    store[0].fault(LossyStore.Operation.CLAIM, LossyStore.Fault.LOSE_REQUEST);
    Candidate a = kept(Election.of(client, "reports").campaign());
    Eventually.until(AMPLE, "an attempt", () -> store[0].met() > 0);
    store[0].heal();
    Eventually.until(
        AMPLE,
        "a leader",
        () -> {
          time.advance(Duration.ofSeconds(1));
          return a.leadership().isPresent();
        });
  }

  @Test
  void badInput_isRefusedAtOnce() {
    Fenceline client = client("a");
    assertThatThrownBy(() -> Election.of(client, ""))
        .isInstanceOf(InvalidSettingException.class)
        .hasMessageContaining("it is empty (bytes=0, limit=200)");
    assertThatThrownBy(() -> Election.of(client, "x".repeat(201)))
        .isInstanceOf(InvalidSettingException.class)
        .hasMessageContaining("it is too long (bytes=201, limit=200)");
    Election election = Election.of(client, "reports");
    assertThatThrownBy(() -> election.backOff(Duration.ofSeconds(2), Duration.ofSeconds(1)))
        .hasMessage("longest backOff 1s: it must be at least the first one, 2s");
    assertThatThrownBy(() -> election.longestTerm(Duration.ZERO))
        .hasMessage("longestTerm 0ms: it must be at least 1ms");
    assertThatThrownBy(() -> election.campaignEvery(Duration.ZERO, leadership -> {}))
        .hasMessage("pause 0ms: it must be at least 1ms");
    assertThatThrownBy(() -> election.campaign(null)).isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> election.lease(Duration.ofNanos(5)))
        .isInstanceOf(InvalidSettingException.class);
  }
}
