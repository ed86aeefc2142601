package io.fenceline.jdbc.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
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

  private CallersThread caller() {
    return new CallersThread(time, MOST, true);
  }

  private record Caller(Thread thread, CompletableFuture<Boolean> hasPlace) {}

  /** A caller that waits for a place in a thread of its own, with so many others. */
  private Caller waiting(String name, int others) {
    CompletableFuture<Boolean> hasPlace = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              boolean has = queue.enter(caller());
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
    assertThat(queue.enter(caller())).isTrue();
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
    assertThat(queue.enter(caller())).isTrue();
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
  void aCallerThatIsInterrupted_leavesTheLine() throws Exception {
    assertThat(queue.enter(caller())).isTrue();
    Caller gone = waiting("gone", 0);
    Caller next = waiting("next", 1);
    gone.thread.interrupt();
    assertThat(get(gone)).isFalse();
    queue.leave();
    assertThat(get(next)).isTrue();
    assertThat(order).containsExactly("next");
  }

  @Test
  void aCallerWhoseTimeIsOver_leavesTheLine() throws Exception {
    assertThat(queue.enter(caller())).isTrue();
    Caller gone = waiting("gone", 0);
    time.advance(Duration.ofNanos(MOST));
    assertThat(get(gone)).isFalse();
    queue.leave();
    assertThat(queue.enter(caller())).isTrue();
  }

  @Test
  void aPlaceThatIsGivenToSomeoneWhoGivesUp_isNotLost() throws Exception {
    for (int i = 0; i < 200; i++) {
      assertThat(queue.enter(caller())).isTrue();
      Caller crossing = waiting("crossing", 0);
      Thread interrupter = new Thread(crossing.thread::interrupt);
      interrupter.start();
      queue.leave();
      if (get(crossing)) {
        queue.leave();
      }
      interrupter.join();
    }
    assertThat(queue.enter(caller())).isTrue();
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
    assertThat(queue.enter(caller())).isTrue();
  }
}
