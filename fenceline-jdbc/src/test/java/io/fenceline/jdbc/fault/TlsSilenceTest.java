package io.fenceline.jdbc.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.jdbc.Urls;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testbed.server.PostgresServer;
import io.fenceline.testbed.server.TlsFiles;
import io.fenceline.testkit.Eventually;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server that is silent in the middle of a connection over TLS, as each driver meets it. */
class TlsSilenceTest {
  private static final Duration OPERATION = Duration.ofSeconds(20);
  private static final Duration BOUND = Duration.ofSeconds(60);

  @Test
  void postgresql_anInterruptFreesTheCaller() throws Exception {
    try (PostgresServer server = PostgresServer.builder().trust().tls().start();
        FaultProxy proxy = FaultProxy.to(server.host(), server.port(), Protocol.BYTES)) {
      String url = Urls.of(server).replace(server.address(), proxy.address());
      check(url + "&sslmode=require", proxy);
      assertThat(server.sql("SELECT count(*) FROM pg_stat_ssl WHERE ssl")).isNotEqualTo("0");
    }
  }

  @Test
  void mariadb_anInterruptFreesTheCaller(@TempDir Path folder) throws Exception {
    TlsFiles files = TlsFiles.create(folder);
    try (MariaDbServer server =
            MariaDbServer.builder()
                .setting("ssl-cert", files.certificate().toString())
                .setting("ssl-key", files.key().toString())
                .setting("require-secure-transport", "ON")
                .start();
        FaultProxy proxy = FaultProxy.to(server.host(), server.port(), Protocol.BYTES)) {
      String url = Urls.of(server).replace(server.address(), proxy.address());
      check(url + "&sslMode=trust", proxy);
    }
  }

  private static void check(String url, FaultProxy proxy) throws Exception {
    try (Fenceline client = Fenceline.builder().store(url).operationTimeout(OPERATION).connect()) {
      client.lock("ledger").tryAcquire().orElseThrow().release();
      var silence = proxy.holdReplies();
      CompletableFuture<Long> freed = new CompletableFuture<>();
      Thread caller =
          new Thread(
              () -> {
                try {
                  client.lock("ledger").acquire(BOUND);
                  freed.completeExceptionally(new AssertionError("it was granted"));
                } catch (InterruptedException e) {
                  freed.complete(System.nanoTime());
                } catch (RuntimeException e) {
                  freed.completeExceptionally(e);
                }
              });
      caller.start();
      Eventually.until(BOUND, "the answer to be kept back", () -> silence.timesApplied() > 0);

      long began = System.nanoTime();
      caller.interrupt();
      long ended = freed.get(BOUND.toSeconds(), TimeUnit.SECONDS);

      assertThat(Duration.ofNanos(ended - began)).isLessThan(OPERATION.dividedBy(2));
      silence.lift();
      Hold next = client.lock("ledger").acquire(BOUND);
      assertThat(next.isValid()).isTrue();
      next.release();
    }
  }
}
