package io.fenceline.redis.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.diagnosis.Finding;
import io.fenceline.redis.support.Clients;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is in Redis, and what is said of it. */
class FormatTest {
  private static final Duration LEASE = Duration.ofSeconds(20);

  private static RedisServer redis;

  @RegisterExtension final Clients clients = new Clients();

  @BeforeAll
  static void start() {
    redis = RedisServer.start();
  }

  @BeforeEach
  void empty() {
    redis.command("FLUSHALL");
  }

  @AfterAll
  static void stop() {
    redis.close();
  }

  @Test
  void keysExpire_butCountersDoNot() {
    Fenceline client = clients.connect(redis.uri(), LEASE);
    Fenceline other = clients.connect(redis.uri(), LEASE);
    Clients.acquire(client, "ledger");
    CompletableFuture<Hold> waiting = other.lock("ledger").acquireAsync(Clients.AMPLE);
    Clients.awaitWaiters(client, "ledger", 1);

    List<?> keys = (List<?>) redis.command("KEYS", "*");

    assertThat(keys).hasSize(5);
    assertThat(waiting).isNotDone();
    for (Object key : keys) {
      long left = (Long) redis.command("PTTL", String.valueOf(key));
      if (String.valueOf(key).endsWith("#")) {
        assertThat(left).isEqualTo(-1);
      } else {
        assertThat(left).isBetween(1L, LEASE.toMillis() + 15_000);
      }
    }
  }

  @Test
  void newerFormat_isNotWorkedBeside() {
    redis.command("SET", "fl1:{0}!", "2");

    assertThatThrownBy(() -> clients.connect(redis.uri(), LEASE))
        .isInstanceOf(InvalidSettingException.class)
        .hasMessageContaining("format 2");
  }

  @Test
  void numberThatDoesNotFit_failsTheClaim_andTakesNothing() {
    Fenceline client = clients.connect(redis.uri(), LEASE);
    String counter = new String(Layout.place("full").keys()[4], StandardCharsets.UTF_8);
    redis.command("SET", counter, "35184372088831");

    assertThatThrownBy(() -> client.lock("full").tryAcquire())
        .isInstanceOf(StoreRefusedException.class);

    assertThat(client.inspect("full").isFree()).isTrue();
    assertThat(redis.command("GET", counter)).isEqualTo("35184372088831");
    redis.command("SET", counter, "35184372088829");
    Hold hold = client.lock("full").tryAcquire().orElseThrow();
    assertThat(hold.token() >> 8).isEqualTo(35184372088830L);
    assertThat(hold.token()).isLessThan(1L << 53);
  }

  @Test
  void counterAheadOfTheClock_isCountedOn_andTheHeadSaysSo() {
    Fenceline client = clients.connect(redis.uri(), LEASE);
    String counter = new String(Layout.place("ahead").keys()[4], StandardCharsets.UTF_8);
    redis.command("SET", counter, "35184372088000");

    Hold hold = client.lock("ahead").tryAcquire().orElseThrow();

    assertThat(hold.token() >> 8).isEqualTo(35184372088001L);
    assertThat(redis.command("GET", counter)).isEqualTo("35184372088001");
    assertThat(client.inspect("ahead").holders().get(0).token()).isEqualTo(hold.token());
    assertThat((Long) redis.command("PTTL", head("ahead"))).isPositive();
  }

  @Test
  void timeOfTheGrant_staysWhatItWas_whenItIsRenewed() {
    Fenceline client = clients.connect(redis.uri(), Duration.ofSeconds(3));
    Hold hold = Clients.acquire(client, "kept");
    Long length = (Long) redis.command("STRLEN", head("kept"));
    Instant since = client.inspect("kept").holders().get(0).since();

    Eventually.until( // The first renewal notes the time, which the end no longer tells.
        Clients.AMPLE,
        "a renewal",
        () -> (Long) redis.command("STRLEN", head("kept")),
        now -> now > length || !hold.isValid());

    assertThat(hold.isValid()).isTrue();
    Instant later = client.inspect("kept").holders().get(0).since();
    assertThat(Duration.between(since, later).abs()).isLessThan(Duration.ofMillis(50));
  }

  @Test
  void headThatNeverEnds_becauseSomeoneMeddled_endsAgain() {
    Fenceline client = clients.connect(redis.uri(), LEASE);
    Fenceline other = clients.connect(redis.uri(), LEASE);
    Clients.acquire(client, "meddled");
    redis.command("PERSIST", head("meddled"));
    assertThat(redis.command("PTTL", head("meddled"))).isEqualTo(-1L);

    assertThat(other.lock("meddled").tryAcquire()).isEmpty();

    assertThat((Long) redis.command("PTTL", head("meddled"))).isBetween(1L, LEASE.toMillis());
  }

  private static String head(String name) {
    return new String(Layout.place(name).keys()[0], StandardCharsets.UTF_8);
  }

  @Test
  void serverThatIsNotThere_isSaidSo() {
    assertThatThrownBy(() -> clients.connect("redis://127.0.0.1:1", LEASE))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("redis://127.0.0.1:1");
  }

  @Test
  void doctor_saysWhatPutsLocksAtRisk() {
    try (RedisServer risky = RedisServer.builder().maxMemory("50mb", "volatile-lru").start()) {
      Fenceline client = clients.connect(risky.uri(), LEASE);

      List<Finding> findings = client.diagnose();

      assertThat(findings.stream().map(Finding::check).collect(Collectors.toSet()))
          .containsExactlyInAnyOrder(
              "version", "permissions", "clock", "eviction", "persistence", "replicas");
      assertThat(findings)
          .filteredOn(finding -> finding.severity() == Finding.Severity.SERIOUS)
          .singleElement()
          .satisfies(finding -> assertThat(finding.found()).contains("volatile-lru"));
      clients.afterEach(null);
    }
  }

  @Test
  void doctor_saysWhichPermissionIsMissing() {
    try (RedisServer strict =
        RedisServer.builder()
            .user("poor", "on >secret ~fl1:* &fl1:* +@all -publish -info")
            .start()) {
      Fenceline client = clients.connect("redis://poor:secret@" + strict.address(), LEASE);

      assertThat(client.diagnose())
          .anySatisfy(
              finding -> {
                assertThat(finding.severity()).isEqualTo(Finding.Severity.SERIOUS);
                assertThat(finding.found()).contains("PUBLISH").contains("NOPERM");
              })
          .anySatisfy(finding -> assertThat(finding.found()).contains("INFO failed"));
      clients.afterEach(null);
    }
  }

  @Test
  void doctor_seesAClockThatIsWrong() {
    try (RedisServer wrong = RedisServer.builder().fakeTime().start()) {
      wrong.clockOffset(Duration.ofMinutes(10));
      Fenceline client = clients.connect(wrong.uri(), LEASE);

      assertThat(client.diagnose())
          .filteredOn(finding -> finding.check().equals("clock"))
          .singleElement()
          .satisfies(finding -> assertThat(finding.severity()).isEqualTo(Finding.Severity.NOTE));
      clients.afterEach(null);
    }
  }
}
