package io.fenceline.testbed.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.testbed.server.PostgresServer;
import io.fenceline.testkit.Eventually;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PostgresProxyTest {

  private static PostgresServer postgres;
  private FaultProxy proxy;

  @BeforeAll
  static void startPostgres() {
    postgres = PostgresServer.builder().fsync(false).start();
    postgres.sql("CREATE TABLE t (x int)");
  }

  @AfterAll
  static void stopPostgres() {
    postgres.close();
  }

  @BeforeEach
  void open() {
    postgres.sql("TRUNCATE t");
    proxy = FaultProxy.to(postgres.host(), postgres.port(), Protocol.POSTGRES);
  }

  @AfterEach
  void close() {
    proxy.close();
  }

  private Command psql(String... statements) throws IOException {
    String[] words = new String[5 + 2 * statements.length];
    words[0] = "psql";
    words[1] = "-XqtA";
    words[2] = "--set=ON_ERROR_STOP=1";
    words[3] = "--host=" + proxy.host();
    words[4] = "--port=" + proxy.port();
    for (int i = 0; i < statements.length; i++) {
      words[5 + 2 * i] = "-c";
      words[6 + 2 * i] = statements[i];
    }
    return Command.run(
        Map.of(
            "PGUSER", postgres.user(),
            "PGPASSWORD", postgres.password(),
            "PGDATABASE", postgres.database()),
        words);
  }

  @Test
  void messagesPassAndAreCounted() throws IOException {
    Command result = psql("INSERT INTO t VALUES (1)", "SELECT repeat('x', 20000)");

    assertThat(result.output()).isEqualTo("x".repeat(20_000));
    assertThat(proxy.counts())
        .containsEntry("EncryptionRequest", 1L)
        .containsEntry("Startup", 1L)
        .containsEntry("Query", 2L);
    // The client does not wait for an answer to its last message: it may be gone before that
    // arrives.
    Eventually.until(
        Duration.ofSeconds(60),
        "the message that ends the session",
        proxy::counts,
        counts -> counts.getOrDefault("Terminate", 0L) == 1);
  }

  @Test
  void theReplyToAStatementIsLost_whenItWasRun() throws IOException {
    Fault cut = proxy.cutBeforeReply(Trigger.nth(2, request -> request.contains("INSERT")));
    Command result =
        psql("INSERT INTO t VALUES (1)", "SELECT 5", "INSERT INTO t VALUES (2)", "SELECT 6");

    assertThat(result.status()).isNotZero();
    assertThat(result.output()).contains("5").doesNotContain("6");
    assertThat(cut.timesApplied()).isEqualTo(1);
    assertThat(postgres.sql("SELECT x FROM t ORDER BY x")).isEqualTo("1\n2");
  }

  @Test
  void aCutRequestIsNotRun() throws IOException {
    Fault cut = proxy.cutRequest(Trigger.first(request -> request.contains("INSERT")));

    assertThat(psql("INSERT INTO t VALUES (1)").status()).isNotZero();
    assertThat(cut.timesApplied()).isEqualTo(1);
    assertThat(postgres.sql("SELECT count(*) FROM t")).isEqualTo("0");
  }
}
