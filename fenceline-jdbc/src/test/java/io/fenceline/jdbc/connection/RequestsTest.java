package io.fenceline.jdbc.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.jdbc.sql.Dialect;
import io.fenceline.jdbc.sql.PostgresDialect;
import io.fenceline.jdbc.sql.SqlConnection;
import io.fenceline.testkit.ManualTime;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How long a caller's own thread is kept, and by what; the connections do nothing. */
class RequestsTest {
  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final Duration CALLER = Duration.ofSeconds(4);
  private static final Duration BORROW = Duration.ofSeconds(3);

  private final ManualTime time = new ManualTime();
  private final Dialect dialect = new PostgresDialect();
  private final Requests requests =
      new Requests(new OneConnection(), dialect, new Failures("test", dialect, List.of()), time);
  private final List<String> done = new CopyOnWriteArrayList<>();
  private final CountDownLatch over = new CountDownLatch(1);

  /** A pool that may keep a request waiting for most of what it has. */
  private static final class OneConnection implements Connections {
    private final Connection connection = session();

    @Override
    public <T extends @Nullable Object> T use(Purpose purpose, Work<T> work) throws SQLException {
      return work.on(new SqlConnection(connection, null, false));
    }

    @Override
    public int atOnce() {
      return 1;
    }

    @Override
    public Duration callerTime() {
      return CALLER;
    }

    @Override
    public Duration borrowTime() {
      return BORROW;
    }

    @Override
    public void close() {}
  }

  private static Connection session() {
    return (Connection)
        Proxy.newProxyInstance(
            Connection.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              throw new UnsupportedOperationException(method.getName());
            });
  }

  @AfterEach
  void close() {
    requests.close();
    time.close();
  }

  private record Call(Thread thread, CompletableFuture<CompletableFuture<String>> returned) {}

  private Call call(Connections.Work<String> work) {
    CompletableFuture<CompletableFuture<String>> returned = new CompletableFuture<>();
    Thread thread =
        new Thread(() -> returned.complete(requests.answerHere("It failed", false, work)));
    thread.start();
    return new Call(thread, returned);
  }

  private static <T> T get(CompletableFuture<T> future) throws Exception {
    return future.get(BOUND.toSeconds(), TimeUnit.SECONDS);
  }

  /** Has the only place until {@link #over}. */
  private Call busy() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    Call busy =
        call(
            db -> {
              begun.countDown();
              try {
                over.await();
              } catch (InterruptedException e) {
                throw new SQLException(e);
              }
              return "busy";
            });
    assertThat(begun.await(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
    return busy;
  }

  private Connections.Work<String> noting(String name) {
    return db -> {
      done.add(name + (CallersThread.kept() == null ? " by another thread" : " by its caller"));
      return name;
    };
  }

  private Connections.Work<String> notingWhere(Connection listeners) {
    return db -> {
      String session = db.connection() == listeners ? "the listener's" : "the pool's";
      done.add(session + (CallersThread.kept() == null ? "" : ", for as long as a caller"));
      return session;
    };
  }

  @Test
  void whatAListenerHears_isAskedForOnItsOwnSession_onceAndNoLongerThanACallerWaits()
      throws Exception {
    Connection listeners = session();
    List<CompletableFuture<String>> answers = new CopyOnWriteArrayList<>();

    boolean used =
        Requests.on(
            listeners,
            () -> {
              answers.add(requests.answer("It failed", notingWhere(listeners)));
              assertThat(answers.get(0)).isDone();
              answers.add(requests.answer("It failed", notingWhere(listeners)));
            });

    assertThat(used).isTrue();
    assertThat(get(answers.get(0))).isEqualTo("the listener's");
    assertThat(get(answers.get(1))).isEqualTo("the pool's");
    assertThat(done).containsExactly("the listener's, for as long as a caller", "the pool's");
    assertThat(Requests.on(listeners, () -> {})).isFalse();
    assertThat(get(requests.answer("It failed", notingWhere(listeners)))).isEqualTo("the pool's");
  }

  @Test
  void whatADeadlockEndsOnAListenersSession_isTriedAgainElsewhere() throws Exception {
    Connection listeners = session();
    List<CompletableFuture<String>> answers = new CopyOnWriteArrayList<>();

    Requests.on(
        listeners,
        () ->
            answers.add(
                requests.answer(
                    "It failed",
                    db -> {
                      if (db.connection() == listeners) {
                        throw new SQLException("deadlock detected", "40P01");
                      }
                      return "again";
                    })));

    assertThat(get(answers.get(0))).isEqualTo("again");
  }

  /**
   * In line, in the pool and by the server it may be kept as long as one operation, not each for as
   * long.
   */
  @Test
  void whoeverWaitsInLine_leavesInTime_forWhatThePoolMayTake_andKeepsItsTurn() throws Exception {
    Call busy = busy();
    Call late = call(noting("late"));
    time.awaitParked(1);
    time.advance(CALLER.minus(BORROW));
    CompletableFuture<String> answer = get(late.returned);
    assertThat(answer).isNotDone();
    Call next = call(noting("next"));
    time.awaitParked(1);

    over.countDown();

    assertThat(get(get(busy.returned))).isEqualTo("busy");
    assertThat(get(answer)).isEqualTo("late");
    assertThat(get(get(next.returned))).isEqualTo("next");
    assertThat(done).containsExactly("late by another thread", "next by its caller");
  }

  @Test
  void whoeverIsInterruptedInLine_isFreeAtOnce_andItsRequestIsMade() throws Exception {
    busy();
    Call late = call(noting("late"));
    time.awaitParked(1);
    late.thread.interrupt();
    CompletableFuture<String> answer = get(late.returned);
    assertThat(answer).isNotDone();
    over.countDown();
    assertThat(get(answer)).isEqualTo("late");
    assertThat(done).containsExactly("late by another thread");
  }

  /** Whatever it was: the next one must not wait for a place that nobody has. */
  @Test
  void anErrorInARequest_leavesItsPlace() throws Exception {
    Thread failing =
        new Thread(
            () -> {
              try {
                requests.answerHere(
                    "It failed",
                    false,
                    db -> {
                      throw new StackOverflowError("as planned");
                    });
              } catch (StackOverflowError e) {
                done.add(e.getMessage());
              }
            });
    failing.start();
    failing.join();
    assertThat(get(get(call(noting("next")).returned))).isEqualTo("next");
    assertThat(done).containsExactly("as planned", "next by its caller");
  }
}
