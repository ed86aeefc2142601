package io.fenceline.jdbc.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import io.fenceline.time.Time;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Who is next for a connection, be it a caller's own thread or a task for another one. */
class RequestQueueTest {
  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final long MOST = Duration.ofSeconds(3).toNanos();

  private final ManualTime time = new ManualTime();
  private final Queue<Runnable> threads = new ArrayDeque<>();
  private final RequestQueue queue = new RequestQueue(threads::add, time, 1);
  private final List<String> order = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() {
    time.close();
  }

  private record Caller(Thread thread, CompletableFuture<Boolean> hasPlace) {}

  /** A caller that waits for a place in a thread of its own, with so many others. */
  private Caller waiting(String name, int others) {
    CompletableFuture<Boolean> hasPlace = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              boolean has = queue.enter(MOST, () -> order.add(name + " by another"));
              if (has) {
                order.add(name);
              }
              hasPlace.complete(has);
            });
    thread.start();
    time.awaitParked(others + 1);
    return new Caller(thread, hasPlace);
  }

  private static boolean get(Caller caller) throws Exception {
    return caller.hasPlace.get(BOUND.toSeconds(), TimeUnit.SECONDS);
  }

  private void runThreads() {
    for (Runnable next = threads.poll(); next != null; next = threads.poll()) {
      next.run();
    }
  }

  @Test
  void callersAndTasks_comeInTheOrderOfTheirArrival() throws Exception {
    assertThat(queue.enterNow()).isTrue();
    Caller first = waiting("first", 0);
    queue.execute(() -> order.add("task"));
    Caller last = waiting("last", 1);
    assertThat(threads).isEmpty();

    queue.leave();
    assertThat(get(first)).isTrue();
    assertThat(threads).isEmpty();
    queue.leave();
    assertThat(last.hasPlace).isNotDone();
    runThreads();
    assertThat(get(last)).isTrue();
    queue.leave();

    assertThat(order).containsExactly("first", "task", "last");
    assertThat(queue.enterNow()).isTrue();
  }

  /** A thread that has yet to wake up would keep a connection idle. */
  @Test
  void aFreePlace_isForWhoeverIsHere_butNobodyIsPassedOverForLong() throws Exception {
    CountDownLatch wakesUp = new CountDownLatch(1);
    RequestQueue slow = new RequestQueue(threads::add, slowToWake(wakesUp), 1);
    assertThat(slow.enterNow()).isTrue();
    CompletableFuture<Boolean> hasPlace = new CompletableFuture<>();
    new Thread(() -> hasPlace.complete(slow.enter(MOST, () -> order.add("by another")))).start();
    time.awaitParked(1);

    slow.leave();
    assertThat(slow.enterNow()).as("passes over the one who is not awake").isTrue();
    time.advance(Duration.ofMillis(10));
    slow.leave();
    assertThat(slow.enterNow()).as("passes over somebody who has waited long enough").isFalse();

    wakesUp.countDown();
    assertThat(hasPlace.get(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
    slow.leave();
    assertThat(slow.enterNow()).isTrue();
  }

  /** The test's time, but a thread that is woken does not come before it is let go. */
  private Time slowToWake(CountDownLatch wakesUp) {
    return (Time)
        Proxy.newProxyInstance(
            Time.class.getClassLoader(),
            new Class<?>[] {Time.class},
            (proxy, method, arguments) -> {
              Object answer = method.invoke(time, arguments);
              if (method.getName().equals("park")) {
                wakesUp.await();
              }
              return answer;
            });
  }

  /** Only the first of them is woken by what makes room for two. */
  @Test
  void placesThatBecomeFreeAtTheSameTime_areAllUsed() throws Exception {
    CountDownLatch wakesUp = new CountDownLatch(1);
    RequestQueue two = new RequestQueue(threads::add, slowToWake(wakesUp), 2);
    assertThat(two.enterNow()).isTrue();
    assertThat(two.enterNow()).isTrue();
    List<CompletableFuture<Boolean>> havePlaces = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      CompletableFuture<Boolean> hasPlace = new CompletableFuture<>();
      havePlaces.add(hasPlace);
      new Thread(() -> hasPlace.complete(two.enter(MOST, () -> order.add("by another")))).start();
      time.awaitParked(i + 1);
    }

    two.leave();
    two.leave();
    wakesUp.countDown();

    for (CompletableFuture<Boolean> hasPlace : havePlaces) {
      assertThat(hasPlace.get(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void manyCallersAndTasks_areAllServed_whateverCrosses() throws Exception {
    int callers = 8;
    int rounds = 3_000;
    ExecutorService workers = Executors.newCachedThreadPool();
    RequestQueue busy = new RequestQueue(workers, time, 2);
    AtomicInteger atOnce = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger done = new AtomicInteger();
    Runnable request =
        () -> {
          most.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
          Thread.yield();
          atOnce.decrementAndGet();
          done.incrementAndGet();
        };
    List<Future<?>> all = new ArrayList<>();
    try {
      for (int i = 0; i < callers; i++) {
        all.add(
            workers.submit(
                () -> {
                  for (int round = 0; round < rounds; round++) {
                    if (round % 7 == 0) {
                      busy.execute(request);
                    } else if (busy.enterNow() || busy.enter(MOST, request)) {
                      request.run();
                      busy.leave();
                    }
                  }
                }));
      }
      for (Future<?> each : all) {
        each.get(BOUND.toSeconds(), TimeUnit.SECONDS);
      }
      Eventually.until(BOUND, "all requests", done::get, n -> n == callers * rounds);
    } finally {
      workers.shutdownNow();
    }
    assertThat(most).hasValue(2);
  }

  @Test
  void noMoreThanThePlaces_areUnderWay() throws Exception {
    queue.execute(() -> order.add("task"));
    Caller waiting = waiting("caller", 0);
    assertThat(waiting.hasPlace).isNotDone();
    runThreads();
    assertThat(get(waiting)).isTrue();
    assertThat(order).containsExactly("task", "caller");
  }

  @Test
  void whatACallerThatIsInterruptedWanted_isDoneByAnotherThread_inItsTurn() throws Exception {
    assertThat(queue.enterNow()).isTrue();
    Caller gone = waiting("gone", 0);
    Caller next = waiting("next", 1);
    gone.thread.interrupt();
    assertThat(get(gone)).isFalse();
    queue.leave();
    assertThat(next.hasPlace).isNotDone();
    runThreads();
    assertThat(get(next)).isTrue();
    assertThat(order).containsExactly("gone by another", "next");
  }

  @Test
  void whatACallerWhoseTimeIsOverWanted_isDoneByAnotherThread_inItsTurn() throws Exception {
    assertThat(queue.enterNow()).isTrue();
    Caller gone = waiting("gone", 0);
    queue.execute(() -> order.add("task"));
    time.advance(Duration.ofNanos(MOST));
    assertThat(get(gone)).isFalse();
    queue.leave();
    runThreads();
    assertThat(order).containsExactly("gone by another", "task");
    assertThat(queue.enterNow()).isTrue();
  }

  @Test
  void aCallerThatCanNotWait_leavesNoPlaceBehind() throws Exception {
    StackOverflowError deep = new StackOverflowError("as planned");
    Time broken =
        (Time)
            Proxy.newProxyInstance(
                Time.class.getClassLoader(),
                new Class<?>[] {Time.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("park")) {
                    throw deep;
                  }
                  return method.invoke(time, arguments);
                });
    RequestQueue shallow = new RequestQueue(threads::add, broken, 1);
    assertThat(shallow.enterNow()).isTrue();
    assertThatThrownBy(() -> shallow.enter(MOST, () -> order.add("unwanted"))).isSameAs(deep);
    shallow.leave();
    runThreads();
    assertThat(order).isEmpty();
    assertThat(shallow.enterNow()).isTrue();
  }

  @Test
  void aPlaceForWhichNoThreadCanBeStarted_isFree() {
    OutOfMemoryError none = new OutOfMemoryError("as planned");
    RequestQueue alone =
        new RequestQueue(
            task -> {
              throw none;
            },
            time,
            1);
    assertThatThrownBy(() -> alone.execute(() -> order.add("task"))).isSameAs(none);
    assertThat(alone.enterNow()).isTrue();
    assertThatThrownBy(alone::leave).isSameAs(none);
    assertThat(alone.enterNow()).isTrue();
  }

  @Test
  void aPlaceThatIsGivenToSomeoneWhoGivesUp_isNotLost() throws Exception {
    for (int i = 0; i < 200; i++) {
      assertThat(queue.enterNow()).isTrue();
      Caller crossing = waiting("crossing", 0);
      Thread interrupter = new Thread(crossing.thread::interrupt);
      interrupter.start();
      queue.leave();
      if (get(crossing)) {
        queue.leave();
      }
      runThreads();
      interrupter.join();
    }
    assertThat(queue.enterNow()).isTrue();
  }

  @Test
  void aTaskThatFails_leavesItsPlaceToTheNext() {
    queue.execute(
        () -> {
          throw new IllegalStateException("as planned");
        });
    queue.execute(() -> order.add("next"));
    for (Runnable next = threads.poll(); next != null; next = threads.poll()) {
      try {
        next.run();
      } catch (IllegalStateException e) {
        order.add("failed");
      }
    }
    assertThat(order).containsExactly("failed", "next");
    assertThat(queue.enterNow()).isTrue();
  }
}
