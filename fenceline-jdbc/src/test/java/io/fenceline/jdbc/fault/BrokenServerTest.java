package io.fenceline.jdbc.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.jdbc.Urls;
import io.fenceline.testbed.process.JavaProcess;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testbed.server.PostgresServer;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Answers without an end, and what they cost a client with a small heap. */
class BrokenServerTest {
  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final int HEAP_MEGABYTES = 256;

  private static PostgresServer postgres;
  private static MariaDbServer mariadb;

  @BeforeAll
  static void start() {
    postgres = PostgresServer.builder().trust().fsync(false).start();
    mariadb = MariaDbServer.start();
  }

  @AfterAll
  static void stop() {
    postgres.close();
    mariadb.close();
  }

  @Test
  void answerOfPostgresThatDoesNotEnd_isAnError() throws Exception {
    try (BrokenServer server = new BrokenServer(postgres.host(), postgres.port(), true)) {
      check(server, Urls.of(postgres).replace(postgres.address(), server.address()));
    }
  }

  @Test
  void answerOfMariaDbThatDoesNotEnd_isAnError() throws Exception {
    try (BrokenServer server = new BrokenServer(mariadb.host(), mariadb.port(), false)) {
      check(server, Urls.of(mariadb).replace(mariadb.address(), server.address()));
    }
  }

  private static boolean isFound(JavaProcess client) {
    client.send("inspect");
    return client.expect("f", BOUND).startsWith("found 1");
  }

  private static void check(BrokenServer server, String url) {
    try (JavaProcess client =
        JavaProcess.of(BrokenServerClient.class)
            .heap(HEAP_MEGABYTES)
            .jvmOption("-XX:+ExitOnOutOfMemoryError")
            .argument(url)
            .argument("broken")
            .start()) {
      client.expect("ready", BOUND);
      for (BrokenServer.Break how : BrokenServer.Break.values()) {
        if (how != BrokenServer.Break.NONE) {
          check(server, client, how);
        }
      }
    }
  }

  private static void check(BrokenServer server, JavaProcess client, BrokenServer.Break how) {
    server.breakWith(how);
    client.send("inspect");
    String answer = client.expect("failed", BOUND);
    assertThat(answer)
        .as("%s", how)
        .contains("StoreUnavailableException")
        .containsAnyOf(
            "the server can't be reached or did not answer",
            "The inspection was not answered", // Its driver still reads when its time is over.
            "the server's answer has more than 32 MB",
            "the server's answer has not ended",
            "was not answered", // It comes drop by drop, and has been waited for long enough.
            "maxResultBuffer");

    // It is none the worse for it.
    server.breakWith(BrokenServer.Break.NONE);
    Eventually.until(BOUND, "an answer of a server that is whole", () -> isFound(client));
  }
}
