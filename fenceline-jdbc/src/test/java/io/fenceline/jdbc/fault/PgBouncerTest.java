package io.fenceline.jdbc.fault;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.diagnosis.Finding;
import io.fenceline.jdbc.JdbcStores;
import io.fenceline.jdbc.Urls;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * What is different behind PgBouncer; the whole contract is {@link PgBouncerContractTest}, which
 * {@code ./check --long} runs.
 */
class PgBouncerTest {
  private static final Duration AMPLE = Duration.ofMinutes(2);

  private static PooledPostgres pooled;

  @BeforeAll
  static void start() {
    pooled = new PooledPostgres();
  }

  @AfterAll
  static void stop() {
    pooled.close();
  }

  private static List<Finding> findings(Fenceline fenceline) {
    return fenceline.diagnose().stream()
        .filter(finding -> finding.check().equals("pooler"))
        .toList();
  }

  /** Often enough for the driver to prepare its statements, if it did, and side by side. */
  @Test
  void manyTurns_areTakenOverConnectionsThatAreNotOnesOwn() throws Exception {
    try (Fenceline one = Fenceline.builder().store(PooledPostgres.at(pooled.url)).connect();
        Fenceline other = Fenceline.builder().store(PooledPostgres.at(pooled.url)).connect()) {
      ExecutorService threads = Executors.newFixedThreadPool(8);
      try {
        List<Future<?>> working = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
          Fenceline client = i % 2 == 0 ? one : other;
          String name = "ledger-" + i / 4;
          working.add(threads.submit(() -> takeTurns(client, name)));
        }
        for (Future<?> each : working) {
          each.get(AMPLE.toSeconds(), TimeUnit.SECONDS);
        }
      } finally {
        threads.shutdownNow();
      }
    }
  }

  private static @Nullable Object takeTurns(Fenceline client, String name) throws Exception {
    long last = 0;
    for (int turn = 0; turn < 15; turn++) {
      try (Hold hold = client.lock(name).acquire(AMPLE)) {
        assertThat(hold.token()).isGreaterThan(last);
        last = hold.token();
        client.inspect(name);
      }
    }
    return null;
  }

  @Test
  void pooler_isFound_andNothingIsPrepared() {
    try (Fenceline fenceline = Fenceline.builder().store(PooledPostgres.at(pooled.url)).connect();
        Fenceline direct = Fenceline.connect(Urls.of(pooled.server) + "&currentSchema=fenceline")) {
      assertThat(findings(fenceline))
          .singleElement()
          .satisfies(
              finding -> {
                assertThat(finding.severity()).isEqualTo(Finding.Severity.OK);
                assertThat(finding.found()).contains("prepareThreshold = 0");
              });
      assertThat(findings(direct)).isEmpty();
    }
  }

  @Test
  void dataSourceThatPrepares_isWarnedOf() {
    for (int threshold : new int[] {5, 0}) {
      HikariConfig config = new HikariConfig();
      config.setJdbcUrl(pooled.url + "&prepareThreshold=" + threshold);
      config.setMaximumPoolSize(4);
      try (HikariDataSource pool = new HikariDataSource(config);
          Fenceline fenceline =
              Fenceline.builder().store(JdbcStores.from(pool).inSchema("fenceline")).connect()) {
        assertThat(findings(fenceline))
            .singleElement()
            .satisfies(
                finding -> {
                  assertThat(finding.found()).contains("prepareThreshold = " + threshold);
                  assertThat(finding.severity())
                      .isEqualTo(threshold == 0 ? Finding.Severity.OK : Finding.Severity.SERIOUS);
                });
      }
    }
  }
}
