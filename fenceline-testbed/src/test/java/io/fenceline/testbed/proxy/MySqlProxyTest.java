package io.fenceline.testbed.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testkit.Eventually;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class MySqlProxyTest {

  private static MariaDbServer mariadb;
  private FaultProxy proxy;

  @BeforeAll
  static void startMariaDb() {
    mariadb = MariaDbServer.start();
    mariadb.sql("CREATE TABLE t (x int)");
  }

  @AfterAll
  static void stopMariaDb() {
    mariadb.close();
  }

  @BeforeEach
  void open() {
    mariadb.sql("TRUNCATE t");
    proxy = FaultProxy.to(mariadb.host(), mariadb.port(), Protocol.MYSQL);
  }

  @AfterEach
  void close() {
    proxy.close();
  }

  private Command mariadb(String statements) throws IOException {
    return Command.run(
        Map.of(),
        "mariadb",
        "--no-defaults",
        "--protocol=tcp",
        "--host=" + proxy.host(),
        "--port=" + proxy.port(),
        "--user=" + mariadb.user(),
        "--password=" + mariadb.password(),
        "--database=" + mariadb.database(),
        "--batch",
        "--skip-column-names",
        "--skip-reconnect",
        "--execute=" + statements);
  }

  @Test
  void commandsPassAndAreCounted_alsoWhenTheNumbersOfPacketsGoRound() throws IOException {
    Fault never = proxy.cutBeforeReply(Trigger.nth(2, request -> request.contains("after")));
    Command result = mariadb("SELECT seq FROM seq_1_to_1000; SELECT 'after'");

    assertThat(result.output()).endsWith("1000\nafter");
    assertThat(proxy.counts()).containsEntry("Query", 2L);
    // Nothing answers a Quit, so the client may be gone before the proxy has seen it.
    Eventually.until(Duration.ofSeconds(10), "a Quit", () -> proxy.count("Quit") == 1);
    assertThat(never.timesApplied()).isZero();
  }

  @Test
  void theReplyToAStatementIsLost_whenItWasRun() throws IOException {
    Fault cut = proxy.cutBeforeReply(Trigger.nth(2, request -> request.contains("INSERT")));
    Command result =
        mariadb(
            "INSERT INTO t VALUES (1); SELECT seq FROM seq_1_to_600; INSERT INTO t VALUES (2);"
                + " SELECT 'after'");

    assertThat(result.status()).isNotZero();
    assertThat(result.output()).contains("\n600\n").doesNotContain("after");
    assertThat(cut.timesApplied()).isEqualTo(1);
    assertThat(mariadb.sql("SELECT x FROM t ORDER BY x")).isEqualTo("1\n2");
  }
}
