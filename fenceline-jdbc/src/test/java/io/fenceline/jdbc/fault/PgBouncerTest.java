package io.fenceline.jdbc.fault;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.fenceline.Fenceline;
import io.fenceline.diagnosis.Finding;
import io.fenceline.jdbc.JdbcStore;
import io.fenceline.jdbc.Urls;
import io.fenceline.jdbc.schema.LeastRights;
import io.fenceline.testkit.contract.LockContract;
import io.fenceline.testkit.contract.StoreHarness;
import io.fenceline.testkit.proxy.FaultProxy;
import io.fenceline.testkit.proxy.Protocol;
import io.fenceline.testkit.server.PgBouncer;
import io.fenceline.testkit.server.PostgresServer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** PostgreSQL behind PgBouncer, which pools transactions, keeps the contract. */
@Execution(ExecutionMode.CONCURRENT)
class PgBouncerTest extends LockContract {
  private static PostgresServer server;
  private static PgBouncer bouncer;

  /** The contract holds for an account that may do no more than the page about it says. */
  private static String url;

  @BeforeAll
  static void start() {
    server = PostgresServer.builder().trust().start();
    // PgBouncer does not hand on which schema a client wants.
    String direct = LeastRights.in(server).replace("&currentSchema=fenceline", "");
    bouncer = PgBouncer.before(server, "app");
    url = direct.replace(server.address(), bouncer.address());
  }

  @AfterAll
  static void stop() {
    bouncer.close();
    server.close();
  }

  private static JdbcStore at(String url) {
    return JdbcStore.at(url).inSchema("fenceline").poolSize(2);
  }

  @Override
  protected StoreHarness harness() {
    return StoreHarness.onRealTime(at(url), Duration.ofSeconds(3));
  }

  @Override
  protected Optional<Proxied> proxied() {
    FaultProxy proxy = FaultProxy.to(bouncer.host(), bouncer.port(), Protocol.POSTGRES);
    return Optional.of(new Proxied(at(url.replace(bouncer.address(), proxy.address())), proxy));
  }

  private static List<Finding> findings(Fenceline fenceline) {
    return fenceline.diagnose().stream()
        .filter(finding -> finding.check().equals("pooler"))
        .toList();
  }

  @Test
  void pooler_isFound_andNothingIsPrepared() {
    try (Fenceline fenceline = Fenceline.builder().store(at(url)).connect();
        Fenceline direct = Fenceline.connect(Urls.of(server) + "&currentSchema=fenceline")) {
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
      config.setJdbcUrl(url + "&prepareThreshold=" + threshold);
      config.setMaximumPoolSize(4);
      try (HikariDataSource pool = new HikariDataSource(config);
          Fenceline fenceline =
              Fenceline.builder().store(JdbcStore.from(pool).inSchema("fenceline")).connect()) {
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
