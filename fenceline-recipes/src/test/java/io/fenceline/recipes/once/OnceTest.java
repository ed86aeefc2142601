package io.fenceline.recipes.once;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.fenceline.Fenceline;
import io.fenceline.LockLostException;
import io.fenceline.StoreRefusedException;
import io.fenceline.memory.MemorySpace;
import io.fenceline.recipes.once.OnceRefusedException.Reason;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import io.fenceline.testkit.fault.LossyStore;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of a key, with records on every store; the locks' time is the test's. */
class OnceTest {
  private static final Duration AMPLE = Duration.ofSeconds(60);
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final AtomicInteger KEYS = new AtomicInteger();

  private final ManualTime time = new ManualTime();
  private final MemorySpace space = MemorySpace.create(time::wallMillis);
  private final List<AutoCloseable> opened = new ArrayList<>();
  private final Fenceline fenceline = client(space.factory());
  private final String key = "order-" + KEYS.incrementAndGet();

  /** A worker that ends in the middle of its work. */
  private static final class Killed extends Error {
    private static final long serialVersionUID = 1L;
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : opened) {
      each.close();
    }
  }

  private Fenceline client(StoreFactory store) {
    Fenceline client = Fenceline.builder().store(store).time(time).connect();
    opened.add(client);
    return client;
  }

  private Once<Work, String> once(Kind kind, Vanished vanished) {
    return once(fenceline, kind, vanished);
  }

  private static Once<Work, String> once(Fenceline client, Kind kind, Vanished vanished) {
    return Once.of(client, "payments", kind.records(), Codec.text(), vanished);
  }

  private static <T> Future<T> started(Callable<T> call) {
    FutureTask<T> task = new FutureTask<>(call);
    Thread thread = new Thread(task);
    thread.setDaemon(true);
    thread.start();
    return task;
  }

  private static void dies(Once<Work, String> once, String key) {
    assertThatThrownBy(
            () ->
                once.call(
                    key,
                    "EUR 12",
                    work -> {
                      throw new Killed();
                    }))
        .isInstanceOf(Killed.class);
  }

  private static OnceRefusedException refusal(Callable<?> call, Reason reason) {
    OnceRefusedException e = catchThrowableOfType(OnceRefusedException.class, call::call);
    assertThat(e).as("a refusal since " + reason).isNotNull();
    assertThat(e.reason()).as(e.getMessage()).isEqualTo(reason);
    return e;
  }

  @ParameterizedTest
  @EnumSource
  void firstOneWorks_laterOnesGetItsResult(Kind kind) throws Exception {
    Once<Work, String> once = once(kind, Vanished.IN_DOUBT);
    AtomicInteger runs = new AtomicInteger();
    List<Long> tokens = new ArrayList<>();
    OnceTask<Work, String, RuntimeException> charge =
        work -> {
          assertThat(work.key()).isEqualTo(key);
          assertThat(work.attempt()).isEqualTo(1);
          assertThat(work.isValid()).isTrue();
          tokens.add(work.token());
          return "receipt " + runs.incrementAndGet();
        };

    assertThat(once.find(key)).isEmpty();
    assertThat(once.call(key, "EUR 12", charge)).isEqualTo("receipt 1");
    assertThat(once.call(key, "EUR 12", charge)).isEqualTo("receipt 1");
    assertThat(runs).hasValue(1);
    OnceReport report = once.find(key).orElseThrow();
    assertThat(report.state()).isEqualTo(OnceReport.State.DONE);
    assertThat(report.token()).isEqualTo(tokens.get(0));

    OnceRefusedException other =
        refusal(() -> once.call(key, "EUR 13", charge), Reason.OTHER_REQUEST);
    assertThat(other)
        .hasMessageStartingWith(
            "Key '%s' was used for another request before (token=".formatted(key));
    assertThat(other.key()).isEqualTo(key);
    assertThat(runs).hasValue(1);
  }

  @ParameterizedTest
  @EnumSource
  void atTheSameTime_theSecondWaits_orIsTold(Kind kind) throws Exception {
    Once<Work, String> once = once(kind, Vanished.IN_DOUBT);
    CountDownLatch working = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    Future<String> first =
        started(
            () ->
                once.call(
                    key,
                    "EUR 12",
                    work -> {
                      working.countDown();
                      goOn.await();
                      return "receipt";
                    }));
    assertThat(working.await(60, TimeUnit.SECONDS)).isTrue();

    OnceRefusedException told =
        refusal(
            () -> once.waiting(Duration.ZERO).call(key, "EUR 12", work -> "second"),
            Reason.UNDER_WAY);
    assertThat(told.since()).isPresent();
    long token = told.token();
    refusal(
        () -> {
          once.waiting(Duration.ZERO).settle(key, token, "settled");
          return null;
        },
        Reason.UNDER_WAY);
    Future<String> second = started(() -> once.call(key, "EUR 12", work -> "second"));
    time.awaitParked(1);
    goOn.countDown();
    assertThat(first.get(60, TimeUnit.SECONDS)).isEqualTo("receipt");
    assertThat(second.get(60, TimeUnit.SECONDS)).isEqualTo("receipt");
  }

  @ParameterizedTest
  @EnumSource
  void vanishedWorker_isRerun_withALargerToken(Kind kind) throws Exception {
    Once<Work, String> once = once(kind, Vanished.RERUN);
    dies(once, key);
    long before = once.find(key).orElseThrow().token();

    String result =
        once.call(
            key,
            "EUR 12",
            work -> {
              assertThat(work.attempt()).isEqualTo(2);
              assertThat(work.token()).isGreaterThan(before);
              return "second";
            });
    assertThat(result).isEqualTo("second");
    assertThat(once.find(key).orElseThrow().attempts()).isEqualTo(2);
    dies(once, key + "/other");
    refusal(() -> once.call(key + "/other", "EUR 13", work -> ""), Reason.OTHER_REQUEST);
  }

  @ParameterizedTest
  @EnumSource
  void vanishedWorker_inDoubt_isRefusedUntilSettled(Kind kind) throws Exception {
    Once<Work, String> once = once(kind, Vanished.IN_DOUBT);
    dies(once, key);
    OnceRefusedException doubt =
        refusal(() -> once.call(key, "EUR 12", work -> "again"), Reason.IN_DOUBT);
    assertThat(doubt).hasMessageContaining("has a worker that vanished");
    refusal(() -> once.call(key, "EUR 12", work -> "again"), Reason.IN_DOUBT);

    refusal(
        () -> {
          once.settle(key, doubt.token() + 1, "receipt");
          return null;
        },
        Reason.NOT_IN_DOUBT);
    once.settle(key, doubt.token(), "receipt");
    assertThat(once.call(key, "EUR 12", work -> "again")).isEqualTo("receipt");
    refusal(
        () -> {
          once.settle(key, doubt.token(), "another");
          return null;
        },
        Reason.NOT_IN_DOUBT);

    String other = key + "/other";
    dies(once, other);
    once.forget(other, once.find(other).orElseThrow().token());
    assertThat(once.find(other)).isEmpty();
    assertThat(once.call(other, "EUR 12", work -> "again")).isEqualTo("again");
  }

  /** A worker that loses its lock in the middle of its work, and goes on later. */
  private final class Paused {
    final CountDownLatch working = new CountDownLatch(1);
    final CountDownLatch goOn = new CountDownLatch(1);
    final Future<String> call;

    Paused(Kind kind, Vanished vanished, OnceTask<Work, String, Exception> effect)
        throws Exception {
      LossyStore[] store = new LossyStore[1];
      Fenceline client = client(context -> store[0] = new LossyStore(space.factory(), context));
      call =
          started(
              () ->
                  once(client, kind, vanished)
                      .call(
                          key,
                          "EUR 12",
                          work -> {
                            working.countDown();
                            goOn.await();
                            return effect.run(work);
                          }));
      assertThat(working.await(60, TimeUnit.SECONDS)).isTrue();
      store[0].fault(LossyStore.Operation.RENEW, LossyStore.Fault.LOSE_REQUEST);
      time.advance(LEASE.multipliedBy(2));
      store[0].heal();
    }

    Throwable failure() throws Exception {
      goOn.countDown();
      try {
        String unexpected = call.get(60, TimeUnit.SECONDS);
        throw new AssertionError("it got " + unexpected);
      } catch (ExecutionException e) {
        return e.getCause();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void pausedWorker_thatWasOvertaken_cantStoreItsResult(Kind kind) throws Exception {
    if (kind.isSql()) {
      effects(kind, "CREATE TABLE IF NOT EXISTS effects (name varchar(99), worker varchar(9))");
    }
    Paused first =
        new Paused(
            kind,
            Vanished.RERUN,
            work -> {
              insert(work, "first");
              return "first";
            });
    assertThat(
            once(kind, Vanished.RERUN)
                .<Exception>call(
                    key,
                    "EUR 12",
                    work -> {
                      insert(work, "second");
                      return "second";
                    }))
        .isEqualTo("second");

    Throwable refused = first.failure();
    assertThat(refused).isInstanceOf(OnceRefusedException.class);
    assertThat(((OnceRefusedException) refused).reason()).isEqualTo(Reason.OVERTAKEN);
    assertThat(once(kind, Vanished.RERUN).call(key, "EUR 12", work -> "third")).isEqualTo("second");
    if (kind.isSql()) {
      assertThat(workers(kind)).as("effects").containsExactly("second");
    }
  }

  private static void insert(Work work, String worker) throws SQLException {
    if (work instanceof SqlWork sql) {
      try (Statement statement = sql.connection().createStatement()) {
        statement.execute("INSERT INTO effects VALUES ('" + work.key() + "', '" + worker + "')");
      }
    }
  }

  private static void effects(Kind kind, String sql) throws SQLException {
    try (Connection connection = kind.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private List<String> workers(Kind kind) throws SQLException {
    List<String> found = new ArrayList<>();
    try (Connection connection = kind.dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery("SELECT worker FROM effects WHERE name = '" + key + "'")) {
      while (rows.next()) {
        found.add(rows.getString(1));
      }
    }
    return found;
  }

  @ParameterizedTest
  @EnumSource
  void pausedWorker_inDoubt_thatNobodyOvertook_mayStillFinish(Kind kind) throws Exception {
    Paused first = new Paused(kind, Vanished.IN_DOUBT, work -> "first");
    refusal(
        () -> once(kind, Vanished.IN_DOUBT).call(key, "EUR 12", work -> "second"), Reason.IN_DOUBT);
    first.goOn.countDown();
    assertThat(first.call.get(60, TimeUnit.SECONDS)).isEqualTo("first");
    assertThat(once(kind, Vanished.IN_DOUBT).call(key, "EUR 12", work -> "second"))
        .isEqualTo("first");
  }

  @ParameterizedTest
  @EnumSource
  void pausedWorker_whoseKeyWasSettled_cantFinish(Kind kind) throws Exception {
    Paused first = new Paused(kind, Vanished.IN_DOUBT, work -> "first");
    Once<Work, String> once = once(kind, Vanished.IN_DOUBT);
    once.settle(key, once.find(key).orElseThrow().token(), "settled");
    assertThat(first.failure())
        .isInstanceOfSatisfying(
            OnceRefusedException.class, e -> assertThat(e.reason()).isEqualTo(Reason.OVERTAKEN));
    assertThat(once.call(key, "EUR 12", work -> "second")).isEqualTo("settled");
  }

  @ParameterizedTest
  @EnumSource
  void exception_isNoResult_unlessDeclared_andLeavesADoubtAfterTheEffectBegan(Kind kind)
      throws Exception {
    Once<Work, String> once = once(kind, Vanished.IN_DOUBT);
    assertThatThrownBy(
            () ->
                once.call(
                    key,
                    "EUR 12",
                    work -> {
                      throw new java.io.IOException("no route");
                    }))
        .isInstanceOf(java.io.IOException.class);
    assertThat(once.find(key)).isEmpty();
    assertThat(once.call(key, "EUR 12", work -> "receipt")).isEqualTo("receipt");

    String timedOut = key + "/timed-out";
    assertThatThrownBy(
            () ->
                once.call(
                    timedOut,
                    "EUR 12",
                    work -> {
                      work.effectBegins();
                      throw new java.io.IOException("timed out");
                    }))
        .isInstanceOf(java.io.IOException.class);
    refusal(() -> once.call(timedOut, "EUR 12", work -> "again"), Reason.IN_DOUBT);

    String declined = key + "/declined";
    Once<Work, String> keeping = once.keepingFailures(e -> e instanceof IllegalStateException);
    assertThatThrownBy(
            () ->
                keeping.call(
                    declined,
                    "EUR 12",
                    work -> {
                      throw new IllegalStateException("card declined");
                    }))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> keeping.call(declined, "EUR 12", work -> "again"))
        .isInstanceOfSatisfying(
            OnceRefusedException.class,
            e -> {
              assertThat(e.reason()).isEqualTo(Reason.FAILED_BEFORE);
              assertThat(e.failure()).contains("java.lang.IllegalStateException");
              assertThat(e.key()).isEqualTo(declined);
            })
        .hasMessage("card declined");
    refusal(() -> keeping.call(declined, "EUR 13", work -> "again"), Reason.OTHER_REQUEST);
  }

  @ParameterizedTest
  @EnumSource
  void resultThatCantBeStored_saysSo_andIsNotRunAgainInSilence(Kind kind) throws Exception {
    Codec<String> throwing =
        new Codec<>() {
          @Override
          public byte[] encode(String result) {
            throw new UnsupportedOperationException("planted");
          }

          @Override
          public String decode(byte[] bytes) {
            return "";
          }
        };
    Once<Work, String> broken =
        Once.of(fenceline, "payments", kind.records(), throwing, Vanished.IN_DOUBT);
    OnceRefusedException refused =
        refusal(() -> broken.call(key, "EUR 12", work -> "receipt"), Reason.NO_RESULT);
    assertThat(refused)
        .hasMessageContaining("the codec can't encode")
        .hasRootCauseMessage("planted");
    refusal(() -> broken.call(key, "EUR 12", work -> "receipt"), Reason.IN_DOUBT);

    Once<Work, String> small = once(kind, Vanished.IN_DOUBT).resultLimit(10);
    OnceRefusedException large =
        refusal(
            () -> small.call(key + "/large", "EUR 12", work -> "12345678901"), Reason.NO_RESULT);
    assertThat(large)
        .hasMessage(
            "Key '%s/large' has a result that is too large to be stored (bytes=11, limit=10)"
                .formatted(key));
    refusal(() -> small.call(key + "/large", "EUR 12", work -> "1"), Reason.IN_DOUBT);
    assertThat(small.call(key + "/fits", "EUR 12", work -> "1234567890")).isEqualTo("1234567890");
    refusal(() -> small.call(key + "/null", "EUR 12", work -> null), Reason.NO_RESULT);
  }

  @ParameterizedTest
  @EnumSource
  void lateRequests_undoNothing(Kind kind) {
    OnceRecords<Work> records = kind.records();
    String name = "payments:late-" + key;
    Instant now = Instant.ofEpochMilli(time.wallMillis());
    OnceRecords.Outcome done =
        new OnceRecords.Outcome(OnceReport.State.DONE, new byte[] {0, 1, -1}, AMPLE);
    long large = Long.MAX_VALUE - 5; // Beyond what a number of Lua can tell apart.
    String request = "ab".repeat(32);

    assertThat(records.begin(name, request, large, "b", true, now).isBegunBy(large)).isTrue();
    assertThat(records.begin(name, request, large, "b", true, now).attempts())
        .as("a repeat")
        .isEqualTo(1);
    Entry smaller = records.begin(name, request, large - 1, "a", true, now);
    assertThat(smaller.token()).isEqualTo(large);
    assertThat(records.finish(name, large - 1, large - 1, done, now)).isFalse();
    assertThat(records.clear(name, large - 1)).isFalse();
    assertThat(records.begin(name, request, large + 1, "c", false, now).token()).isEqualTo(large);
    assertThat(records.begin(name, request, large + 1, "c", true, now).attempts()).isEqualTo(2);
    assertThat(records.finish(name, large, large, done, now)).as("overtaken").isFalse();

    assertThat(records.finish(name, large + 1, large + 1, done, now)).isTrue();
    assertThat(records.finish(name, large + 1, large + 1, done, now)).as("a repeat").isTrue();
    Entry late = records.begin(name, request, large + 2, "d", true, now);
    assertThat(late.isFinished()).isTrue();
    assertThat(late.result()).containsExactly(0, 1, -1);
    assertThat(records.clear(name, large + 1)).as("it is finished").isFalse();
    assertThat(records.finish("payments:gone-" + key, large, large, done, now)).isFalse();
    assertThat(records.find("payments:gone-" + key)).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void resultsAreForgottenAfterTheirRetention_andKeysInDoubtAreNot(Kind kind) throws Exception {
    Once<Work, String> once =
        Once.of(
                fenceline,
                "short-" + KEYS.incrementAndGet(),
                kind.records(),
                Codec.text(),
                Vanished.IN_DOUBT)
            .retention(Duration.ofMillis(50));
    once.call("old", "EUR 12", work -> "receipt");
    dies(once, "doubt");
    Once<Work, String> other = once(kind, Vanished.IN_DOUBT);
    other.call(key, "EUR 12", work -> "receipt");
    Eventually.until(
        AMPLE,
        "the end of the retention",
        () -> {
          time.advance(Duration.ofMillis(51));
          once.sweep();
          return once.find("old").isEmpty();
        });
    assertThat(once.find("doubt")).isPresent();
    assertThat(other.find(key)).as("of another kind").isPresent();
    assertThat(once.call("old", "EUR 13", work -> "new")).isEqualTo("new");
  }

  @Test
  void sweepKeepsUp_asResultsCome() throws Exception {
    MemoryRecords records = MemoryRecords.create();
    Once<Work, String> once =
        Once.of(fenceline, "many", records, Codec.text(), Vanished.IN_DOUBT)
            .retention(Duration.ofSeconds(1));
    for (int i = 0; i < 5_000; i++) {
      once.call("key-" + i, "", work -> "");
      time.advance(Duration.ofMillis(10)); // A hundred in a retention.
    }
    assertThat(records.size()).isLessThan(300);
  }

  /** A sweep takes a few hundred rows at a time, so that it locks none of them for long. */
  @ParameterizedTest
  @EnumSource(names = {"SQLITE", "POSTGRESQL", "MARIADB"})
  void oneSweep_removesAllThatIsOld_howeverMuchItIs(Kind kind) throws Exception {
    String many = "many-" + KEYS.incrementAndGet();
    Once<Work, String> once =
        Once.of(fenceline, many, kind.records(), Codec.text(), Vanished.IN_DOUBT);
    try (Connection connection = kind.dataSource().getConnection();
        PreparedStatement old =
            connection.prepareStatement(
                "INSERT INTO fenceline_once (name, kind, state, fingerprint, token, attempts, since,"
                    + " worker, finished_at) VALUES (?, ?, 2, '', 1, 1, 1, '', 1)")) {
      connection.setAutoCommit(false);
      for (int i = 0; i < 1_201; i++) {
        old.setBytes(1, (many + ":key-" + i).getBytes(StandardCharsets.UTF_8));
        old.setString(2, many);
        old.addBatch();
      }
      old.executeBatch();
      connection.commit();
    }
    assertThat(once.find("key-1200")).isPresent();
    once.sweep();
    assertThat(rows(kind, many)).isZero();
  }

  private static int rows(Kind kind, String ofKind) throws SQLException {
    try (Connection connection = kind.dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT count(*) FROM fenceline_once WHERE kind = '" + ofKind + "'")) {
      rows.next();
      return rows.getInt(1);
    }
  }

  @Test
  void lockThatWasLostBeforeTheWorkBegan_doesNoWork() {
    LossyStore[] store = new LossyStore[1];
    Fenceline client = client(context -> store[0] = new LossyStore(space.factory(), context));
    MemoryRecords memory = MemoryRecords.create();
    // The way to the records takes longer than the lease.
    OnceRecords<Work> slow =
        new OnceRecords<>() {
          @Override
          String kind() {
            return "slow";
          }

          @Override
          java.util.Optional<Entry> find(String name) {
            return memory.find(name);
          }

          @Override
          Entry begin(String name, String f, long token, String worker, boolean rerun, Instant at) {
            store[0].fault(LossyStore.Operation.RENEW, LossyStore.Fault.LOSE_REQUEST);
            time.advance(LEASE.multipliedBy(2));
            return memory.begin(name, f, token, worker, rerun, at);
          }

          @Override
          boolean finish(String name, long token, long by, Outcome outcome, Instant at) {
            return memory.finish(name, token, by, outcome, at);
          }

          @Override
          boolean clear(String name, long token) {
            return memory.clear(name, token);
          }

          @Override
          boolean sweep(String kind, Duration retention, Instant at) {
            return false;
          }

          @Override
          Session<Work> open(Work plain) {
            return memory.open(plain);
          }
        };
    Once<Work, String> once = Once.of(client, "payments", slow, Codec.text(), Vanished.IN_DOUBT);
    AtomicInteger runs = new AtomicInteger();
    assertThatThrownBy(() -> once.call(key, "EUR 12", work -> "ran " + runs.incrementAndGet()))
        .isInstanceOf(LockLostException.class);
    assertThat(runs).hasValue(0);
    assertThat(memory.size()).as("nothing half-done").isZero();
    store[0].heal();
  }

  @Test
  void badInput_isRefusedAtOnce() {
    Once<Work, String> once = once(Kind.MEMORY, Vanished.RERUN);
    assertThatThrownBy(() -> once.call("", "", work -> ""))
        .isInstanceOf(InvalidSettingException.class)
        .hasMessage("key '': it is empty (bytes=0, limit=186)");
    assertThatThrownBy(() -> once.call("é".repeat(94), "", work -> ""))
        .hasMessageContaining("it is too long (bytes=188, limit=186)");
    assertThatThrownBy(() -> once.call("a\nb", "", work -> ""))
        .isInstanceOf(InvalidSettingException.class)
        .hasMessageContaining("control character");
    assertThatThrownBy(
            () -> Once.of(fenceline, "a:b", Kind.MEMORY.records(), Codec.text(), Vanished.RERUN))
        .hasMessageContaining("1 to 50 letters");
    assertThatThrownBy(() -> once.resultLimit(0)).isInstanceOf(InvalidSettingException.class);
    assertThatThrownBy(() -> once.retention(Duration.ZERO))
        .isInstanceOf(InvalidSettingException.class);
    assertThatThrownBy(() -> Codec.text().encode("\ud800"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @EnumSource(names = {"SQLITE", "POSTGRESQL", "MARIADB"})
  void callersOwnTransaction_decidesOverEffectAndRecord(Kind kind) throws Exception {
    effects(kind, "CREATE TABLE IF NOT EXISTS effects (name varchar(99), worker varchar(9))");
    SqlRecords records = SqlRecords.over(kind.dataSource());
    Once<SqlWork, String> once =
        Once.of(fenceline, "payments", records, Codec.text(), Vanished.RERUN);
    OnceTask<SqlWork, String, SQLException> book =
        work -> {
          insert(work, "joined");
          return "booked " + work.attempt();
        };
    try (Connection transaction = kind.dataSource().getConnection()) {
      assertThatThrownBy(() -> once.in(records.joining(transaction)).call(key, "EUR 12", book))
          .hasMessageContaining("effect and record must commit together");
      transaction.setAutoCommit(false);
      assertThat(once.in(records.joining(transaction)).call(key, "EUR 12", book))
          .startsWith("booked");
      transaction.rollback();
      assertThat(workers(kind)).isEmpty();
      assertThat(once.find(key).orElseThrow().state()).isEqualTo(OnceReport.State.BEGUN);

      String again = once.in(records.joining(transaction)).call(key, "EUR 12", book);
      // Not yet committed: whoever asks waits for the outcome, by the row.
      CompletableFuture<String> other =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return once.call(key, "EUR 12", book);
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              });
      transaction.commit();
      assertThat(other.get(60, TimeUnit.SECONDS)).isEqualTo(again);
      assertThat(workers(kind)).containsExactly("joined");
    }
  }

  @Test
  void tableThatIsMissing_orOfAnotherVersion_isRefused() throws Exception {
    Kind.Plain empty = new Kind.Plain("jdbc:sqlite::memory:");
    Once<SqlWork, String> once =
        Once.of(fenceline, "payments", SqlRecords.over(empty), Codec.text(), Vanished.RERUN);
    assertThatThrownBy(() -> once.call(key, "", work -> ""))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageStartingWith(
            "The table fenceline_once can't be read; create it by SqlRecords.createTable");

    java.nio.file.Path file = java.nio.file.Files.createTempFile("once", ".db");
    try {
      Kind.Plain other = new Kind.Plain("jdbc:sqlite:" + file);
      SqlRecords records = SqlRecords.over(other);
      records.createTable();
      records.createTable();
      try (Connection connection = other.getConnection();
          Statement statement = connection.createStatement()) {
        statement.execute("UPDATE fenceline_once SET token = 7 WHERE name = x''");
      }
      assertThatThrownBy(() -> records.find("payments:" + key))
          .hasMessage(
              "The table fenceline_once has version 7, and this version of Fenceline knows version 1");
    } finally {
      java.nio.file.Files.delete(file);
    }
    assertThatThrownBy(() -> SqlRecords.schema("Oracle"))
        .hasMessage("database Oracle: records can be in SQLite, PostgreSQL and MariaDB");
    assertThat(SqlRecords.schema("PostgreSQL")).contains("fenceline_once", "bytea");
  }
}
