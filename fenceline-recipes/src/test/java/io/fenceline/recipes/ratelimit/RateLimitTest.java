package io.fenceline.recipes.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.fenceline.Fenceline;
import io.fenceline.LimitExceededException;
import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.proxy.Trigger;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testbed.server.PostgresServer;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.codec.ByteArrayCodec;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a limit admits, on every place for limits. */
@Execution(ExecutionMode.CONCURRENT)
class RateLimitTest {
  private static final Duration AMPLE = Duration.ofMinutes(2);

  /** Longer than any test may take. */
  private static final Duration LONG = Duration.ofHours(1);

  private static final AtomicInteger NAMES = new AtomicInteger();

  private final Fenceline fenceline = Fenceline.connect("memory:rates");
  private final String name = "limit-" + NAMES.incrementAndGet() + "-" + System.nanoTime();

  @AfterEach
  void close() {
    fenceline.close();
  }

  private RateLimit strict(Place place, int permits, Duration period) {
    return strict(place.store(), permits, period);
  }

  private RateLimit strict(RateStore store, int permits, Duration period) {
    return RateLimit.strict(fenceline, name, permits, period, store, RateLimitFallback.refuse());
  }

  private static long micros(Admission admission) {
    return ChronoUnit.MICROS.between(java.time.Instant.EPOCH, admission.at());
  }

  @ParameterizedTest
  @EnumSource
  void strict_hasTheWholeLimitAtOnce_andNoMore(Place place) {
    RateLimit limit = strict(place, 10, LONG);
    assertThat(limit.untilNext(10)).isZero();
    assertThat(limit.tryAcquire(3)).isTrue();
    assertThat(limit.tryAcquire(8)).as("8 of the 7 that are left").isFalse();
    assertThat(limit.tryAcquire(7)).as("none of the 8 was taken").isTrue();
    RateLimit other = strict(place, 10, LONG);
    Admission refused = other.ask(1);
    assertThat(refused.isAdmitted()).isFalse();
    assertThat(refused.isLocal()).isFalse();
    assertThat(refused.untilNext()).isBetween(LONG.minusMinutes(5), LONG);
    // Three of them come back before the others.
    assertThat(strict(place, 10, LONG).untilNext(4)).isGreaterThanOrEqualTo(other.untilNext(3));
    assertThat(strict(place, 11, LONG).tryAcquire()).as("a larger limit of the same name").isTrue();
    assertThat(strict(place, 9, LONG).tryAcquire()).as("a smaller one").isFalse();
    assertThat(limit.of("other").tryAcquire(10)).as("a key of its own").isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void strict_largeLimit_isCountedInMarks(Place place) {
    RateLimit limit = strict(place, 100_000, LONG);
    for (int i = 0; i < 20; i++) {
      assertThat(limit.tryAcquire(5_000)).isTrue();
    }
    assertThat(limit.tryAcquire()).isFalse();
  }

  /** Several threads, each with what another process would have. */
  @ParameterizedTest
  @EnumSource
  void strict_noWindowHasMore_asManyAsAsk(Place place) throws Exception {
    int permits = 10;
    Duration period = Duration.ofMillis(100);
    int enough = 60;
    List<Admission> admissions = Collections.synchronizedList(new ArrayList<>());
    List<FutureTask<Void>> askers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      RateLimit limit = strict(place, permits, period);
      int atOnce = 1 + i % 2;
      askers.add(
          new FutureTask<>(
              () -> {
                while (admissions.size() < enough) {
                  Admission admission = limit.ask(atOnce);
                  for (int each = 0; each < atOnce && admission.isAdmitted(); each++) {
                    admissions.add(admission);
                  }
                }
                return null;
              }));
    }
    askers.forEach(asker -> new Thread(asker).start());
    for (FutureTask<Void> asker : askers) {
      asker.get(120, TimeUnit.SECONDS);
    }
    List<Long> times = admissions.stream().map(RateLimitTest::micros).toList();
    assertThat(Windows.fullest(times, period.toNanos() / 1_000)).isLessThanOrEqualTo(permits);
  }

  @ParameterizedTest
  @EnumSource
  void acquire_waitsItsTurn_andTellsAtOnceIfThatTakesTooLong(Place place) throws Exception {
    Duration period = Duration.ofSeconds(1);
    RateLimit limit = strict(place, 2, period);
    List<Admission> admissions = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      admissions.add(limit.acquire(1, AMPLE));
    }
    List<Long> times = admissions.stream().map(RateLimitTest::micros).toList();
    assertThat(times).isSorted();
    assertThat(Windows.fullest(times, 1_000_000)).isLessThanOrEqualTo(2);

    RateLimit slow =
        RateLimit.strict(
            fenceline, name + "-slow", 2, LONG, place.store(), RateLimitFallback.refuse());
    slow.acquire(2, Duration.ZERO);
    LimitExceededException e =
        catchThrowableOfType(
            LimitExceededException.class, () -> slow.acquire(1, Duration.ofSeconds(30)));
    assertThat(e)
        .hasMessageStartingWith(
            "Limit reached: rate '%s-slow' is at most 2 in 60m, strict. Asked for 1, which are not available within 30s; try again in "
                .formatted(name));
    assertThat(e.retryAfter())
        .hasValueSatisfying(it -> assertThat(it).isGreaterThan(Duration.ofMinutes(50)));
    assertThat(e.limit()).isEqualTo("rate '%s-slow'".formatted(name));
    assertThat(e.allowed()).isEqualTo("2 in 60m, strict");
  }

  /** A place that somebody waits for is not given to whoever asks later. */
  @ParameterizedTest
  @EnumSource
  void whoeverWaits_isNotOvertaken(Place place) {
    assertThat(strict(place, 1, LONG).tryAcquire()).isTrue();
    long longest = LONG.multipliedBy(4).toNanos() / 1_000;
    RateStore.Answer waiter = wouldWait(place, longest);
    assertThat(waiter.taken()).isTrue();
    assertThat(waiter.waitMicros()).isBetween(longest / 5, longest / 4);

    Admission later = strict(place, 1, LONG).ask(1);
    assertThat(later.isAdmitted()).isFalse();
    assertThat(later.untilNext()).as("after the one who waits").isGreaterThan(LONG);
    RateStore.Answer next = wouldWait(place, longest);
    assertThat(next.atMicros() - waiter.atMicros()).isEqualTo(longest / 4);
    assertThat(wouldWait(place, longest / 4).taken()).as("too long").isFalse();
  }

  /** What acquire sends, without the wait. */
  private RateStore.Answer wouldWait(Place place, long longestMicros) {
    return place.store().take(name, Allowance.strict(1, LONG), 1, longestMicros, fenceline.time());
  }

  @ParameterizedTest
  @EnumSource
  void smooth_hasABurst_thenOneByOne(Place place) throws Exception {
    Duration period = Duration.ofHours(1);
    RateLimit limit =
        RateLimit.smooth(fenceline, name, 60, period, 3, place.store(), RateLimitFallback.refuse());
    assertThat(limit.tryAcquire(2)).isTrue();
    assertThat(limit.tryAcquire(1)).isTrue();
    assertThat(limit.ask(1).untilNext()).isBetween(Duration.ofSeconds(30), Duration.ofMinutes(1));
    assertThat(limit.untilNext(3)).isBetween(Duration.ofSeconds(150), Duration.ofMinutes(3));

    RateLimit fast =
        RateLimit.smooth(
            fenceline,
            name + "-fast",
            10,
            Duration.ofMillis(500),
            1,
            place.store(),
            RateLimitFallback.refuse());
    List<Long> times = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      times.add(micros(fast.acquire(1, AMPLE)));
    }
    for (int i = 1; i < times.size(); i++) {
      assertThat(times.get(i) - times.get(i - 1)).isGreaterThanOrEqualTo(50_000);
    }
  }

  @ParameterizedTest
  @EnumSource
  void anotherPeriodOrKind_isRefusedWithBoth_untilNothingCounts(Place place) {
    Duration period = Duration.ofMillis(500);
    RateLimit first = strict(place, 2, period);
    assertThat(first.tryAcquire()).isTrue();
    RateLimit second = strict(place, 2, Duration.ofSeconds(9));
    RateLimit third =
        RateLimit.smooth(fenceline, name, 2, period, 1, place.store(), RateLimitFallback.refuse());
    try {
      second.ask(1);
    } catch (InvalidSettingException e) {
      assertThat(e)
          .hasMessage(
              "period 9s: rate limit '%s' is in use with another kind or period (asked=strict, 9s,"
                      .formatted(name)
                  + " inUse=strict, 500ms)");
    }
    // On a busy machine, the use by the third may be over before the second one asks.
    Eventually.until(
        AMPLE,
        "a refusal while the third counts",
        () -> isAdmitted(third) && isRefused(second, "(asked=strict, 9s, inUse=smooth, 500ms)"));
  }

  private static boolean isRefused(RateLimit limit, String with) {
    try {
      limit.ask(1);
      return false;
    } catch (InvalidSettingException e) {
      assertThat(e).hasMessageContaining(with);
      return true;
    }
  }

  private static boolean isAdmitted(RateLimit limit) {
    try {
      return limit.tryAcquire();
    } catch (InvalidSettingException e) {
      return false;
    }
  }

  @Test
  void memory_livesByTheTimeOfItsClient_andForgets() {
    ManualTime time = new ManualTime();
    MemoryRates rates = MemoryRates.create();
    try (Fenceline client = Fenceline.builder().store("memory:manual").time(time).connect()) {
      RateLimit limit =
          RateLimit.strict(
              client, name, 3, Duration.ofSeconds(1), rates, RateLimitFallback.refuse());
      assertThat(limit.tryAcquire(1)).isTrue();
      time.advance(Duration.ofMillis(600));
      assertThat(limit.tryAcquire(2)).isTrue();
      time.jumpWall(Duration.ofDays(-1));
      assertThat(limit.ask(1).untilNext()).isEqualTo(Duration.ofMillis(400));
      assertThat(limit.untilNext(3)).isEqualTo(Duration.ofMillis(1_000));
      time.advance(Duration.ofMillis(399));
      assertThat(limit.tryAcquire()).isFalse();
      time.advance(Duration.ofMillis(1));
      assertThat(limit.tryAcquire()).as("not a moment later").isTrue();
      assertThat(limit.tryAcquire()).isFalse();

      for (int i = 0; i < 1_000; i++) {
        assertThat(limit.of("user-" + i).tryAcquire()).isTrue();
      }
      time.advance(Duration.ofSeconds(2));
      for (int i = 0; i < 1_000; i++) {
        assertThat(limit.of("one").tryAcquire() || true).isTrue();
      }
      assertThat(rates.size()).isEqualTo(1);
    }
  }

  @Test
  void redis_keepsOneKey_whichExpires_andAsksOnce() {
    try (RedisServer server = RedisServer.start()) {
      RedisClient client = RedisClient.create(server.uri());
      RateStore store = RedisRates.over(client.connect(ByteArrayCodec.INSTANCE));
      RateLimit limit = strict(store, 3, Duration.ofMillis(300));
      assertThat(limit.tryAcquire()).isTrue(); // The script is known from here on.
      assertThat(server.command("DBSIZE")).isEqualTo(1L);
      Eventually.until(AMPLE, "expiry", () -> server.command("DBSIZE").equals(0L));

      RateLimit other = strict(store, 3, LONG);
      server.resetCommandCounts();
      for (int i = 0; i < 1_000; i++) {
        assertThat(other.tryAcquire()).isEqualTo(i < 3);
      }
      assertThat(server.commandCount("evalsha")).as("3 permits and one refusal").isEqualTo(4);
      client.shutdown();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"SQLITE", "POSTGRESQL", "MARIADB"})
  void sql_removesRowsOfWhichNothingCounts(Place place) throws Exception {
    RateLimit limit = strict(place, 1, Duration.ofMillis(1));
    for (int i = 0; i < 50; i++) {
      assertThat(limit.of("user-" + i).tryAcquire()).isTrue();
    }
    Eventually.until(
        AMPLE,
        "the rows to be swept",
        () -> {
          for (int i = 0; i < 200; i++) {
            limit.of("more").acquire(1, AMPLE);
          }
          return rows(place) == 0;
        });
  }

  private int rows(Place place) throws Exception {
    try (Connection connection = java.sql.DriverManager.getConnection(place.uri());
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery("SELECT name FROM fenceline_rates WHERE name <> ''")) {
      int found = 0;
      while (row.next()) {
        found += new String(row.getBytes(1)).startsWith(name + ":user-") ? 1 : 0;
      }
      return found;
    }
  }

  @Test
  void sql_withoutItsTable_isRefused() {
    try (var pool = Place.pool("jdbc:sqlite::memory:")) {
      assertThatThrownBy(() -> strict(SqlRates.over(pool), 1, LONG).tryAcquire())
          .isInstanceOf(StoreRefusedException.class)
          .hasMessageContaining("SqlRates.createTable");
    }
  }

  /** A server whose clock is set back goes on: neither closed for an hour, nor open at once. */
  @ParameterizedTest
  @EnumSource(names = {"REDIS", "POSTGRESQL", "MARIADB"})
  void serverClockThatIsSetBack_costsNoMoreThanAPeriod(Place place) throws Exception {
    switch (place) {
      case REDIS -> {
        try (RedisServer server = RedisServer.builder().fakeTime().start()) {
          setBack(Place.store(server.uri()), server::clockOffset);
        }
      }
      case POSTGRESQL -> {
        try (PostgresServer server =
            PostgresServer.builder().fsync(false).trust().fakeTime().start()) {
          SqlRates rates =
              SqlRates.over(
                  Place.pool(
                      server.jdbcUrl()
                          + "?user="
                          + server.user()
                          + "&password="
                          + server.password()));
          rates.createTable();
          setBack(rates, server::clockOffset);
        }
      }
      default -> {
        try (MariaDbServer server = MariaDbServer.builder().fakeTime().start()) {
          SqlRates rates = SqlRates.over(Place.pool(Place.url(server)));
          rates.createTable();
          setBack(rates, server::clockOffset);
        }
      }
    }
  }

  private interface Clock {
    void set(Duration ahead);
  }

  private void setBack(RateStore store, Clock clock) throws Exception {
    Duration period = Duration.ofSeconds(4);
    RateLimit limit = strict(store, 2, period);
    long from = System.nanoTime();
    assertThat(limit.tryAcquire(2)).isTrue();
    clock.set(Duration.ofHours(-1));
    Eventually.until(
        AMPLE,
        "a permit, after the clock was set back",
        () -> strict(store, 2, period).tryAcquire());
    Duration took = Duration.ofNanos(System.nanoTime() - from);
    assertThat(took).as("not before the period is over").isGreaterThanOrEqualTo(period);
    assertThat(strict(store, 2, period).untilNext(2)).isLessThanOrEqualTo(period);
  }

  /** The answer is lost: the permits count, once; nothing is asked again. */
  @Test
  void answerThatIsLost_countsOnce() throws Exception {
    try (RedisServer server = RedisServer.start();
        FaultProxy proxy = FaultProxy.to("127.0.0.1", server.port(), Protocol.RESP)) {
      RedisClient client = RedisClient.create("redis://" + proxy.address());
      client.setOptions(ClientOptions.builder().autoReconnect(false).build());
      RateLimit cut = strict(RedisRates.over(client.connect(ByteArrayCodec.INSTANCE)), 10, LONG);
      assertThat(cut.tryAcquire(1)).isTrue();
      proxy.cutBeforeReply(Trigger.first(frame -> frame.kind().equalsIgnoreCase("evalsha")));
      assertThatThrownBy(() -> cut.tryAcquire(4))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("Taking permits failed, although they may have been taken");
      RateStore direct = Place.store(server.uri());
      assertThat(strict(direct, 10, LONG).tryAcquire(6)).as("10 - 1 - 4 are left").isFalse();
      assertThat(strict(direct, 10, LONG).tryAcquire(5)).isTrue();
      client.shutdown();
    }
  }

  @Test
  void storeThatIsAway_refuses_orAdmitsLocally_asChosen() throws Exception {
    RedisServer server = RedisServer.start();
    RedisClient client = RedisClient.create(server.uri());
    client.setOptions(
        ClientOptions.builder()
            .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
            .build());
    RateStore store = RedisRates.over(client.connect(ByteArrayCodec.INSTANCE));
    RateLimit refusing = strict(store, 10, LONG);
    RateLimit local =
        RateLimit.strict(fenceline, name, 10, LONG, store, RateLimitFallback.admitLocally(3));
    assertThat(local.ask(1).isLocal()).isFalse();
    server.close();
    assertThatThrownBy(refusing::tryAcquire).isInstanceOf(StoreUnavailableException.class);
    assertThat(local.ask(2)).matches(Admission::isLocal).matches(Admission::isAdmitted);
    assertThat(local.tryAcquire(2)).as("2 of the 1 that is left").isFalse();
    assertThat(local.tryAcquire(1)).isTrue();
    assertThat(local.tryAcquire(1)).isFalse();
    assertThatThrownBy(() -> local.tryAcquire(4)).isInstanceOf(StoreUnavailableException.class);
    client.shutdown();
  }

  @Test
  void badInput_isRefusedWithItsFigures() {
    RateStore store = MemoryRates.create();
    assertThatThrownBy(() -> strict(store, 0, LONG))
        .hasMessage("permits 0: it must be 1 to 1000000000");
    assertThatThrownBy(() -> strict(store, -5, LONG)).hasMessageStartingWith("permits -5: ");
    assertThatThrownBy(() -> strict(store, 1_000_000_001, LONG))
        .hasMessageStartingWith("permits 1000000001: ");
    assertThatThrownBy(() -> strict(store, 1, Duration.ZERO))
        .hasMessage("period 0ms: it must be at least 1ms");
    assertThatThrownBy(() -> strict(store, 1, Duration.ofSeconds(-1)))
        .hasMessage("period -1s: it must not be negative");
    assertThatThrownBy(() -> strict(store, 1, Duration.ofDays(32)))
        .hasMessage("period 768h: it must be at most 744h");
    assertThatThrownBy(
            () ->
                RateLimit.smooth(
                    fenceline,
                    name,
                    20_000,
                    Duration.ofSeconds(1),
                    1,
                    store,
                    RateLimitFallback.refuse()))
        .hasMessage(
            "permits 20000: a smooth limit has at most one permit in 100us, that is 10000 in 1s");
    assertThatThrownBy(
            () -> RateLimit.smooth(fenceline, name, 5, LONG, 6, store, RateLimitFallback.refuse()))
        .hasMessage("burst 6: it must be 1 to permits, which is 5");
    assertThatThrownBy(
            () -> RateLimit.strict(fenceline, "", 1, LONG, store, RateLimitFallback.refuse()))
        .hasMessageContaining("it is empty (bytes=0, limit=200)");
    RateLimit limit = strict(store, 5, LONG);
    assertThatThrownBy(() -> limit.of("")).hasMessage("key '': it is empty");
    assertThatThrownBy(() -> limit.of("k".repeat(200))).hasMessageContaining("limit=200");
    assertThatThrownBy(() -> limit.tryAcquire(6))
        .hasMessage(
            "permits 6: rate limit '%s' has 1 to 5 at once (limit=5 in 60m, strict)"
                .formatted(name));
    assertThatThrownBy(() -> limit.tryAcquire(0)).isInstanceOf(InvalidSettingException.class);
    assertThatThrownBy(() -> limit.acquire(1, Duration.ofSeconds(-1)))
        .hasMessage("maxWait -1s: it must not be negative");
    assertThatThrownBy(() -> RateLimitFallback.admitLocally(0))
        .hasMessageContaining("use refuse()");
    assertThatThrownBy(
            () ->
                RateLimit.strict(
                    fenceline, name, 2, LONG, store, RateLimitFallback.admitLocally(3)))
        .hasMessageContaining("limit of 2");
    assertThat(limit.tryAcquire(5)).as("nothing was taken by any of that").isTrue();
  }
}
