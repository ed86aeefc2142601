package io.fenceline.redis.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.testkit.ManualTime;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** How a connection dials while there is no server. */
class ConnectionTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private final ManualTime time = new ManualTime();

  private Connection connection(
      Supplier<CompletionStage<StatefulRedisConnection<byte[], byte[]>>> dialer) {
    return new Connection(
        "test", dialer, time, new ReplyTimeouts(time, TIMEOUT.toNanos()), () -> {});
  }

  private static void ask(Connection connection) {
    connection.run("PING", commands -> commands.ping());
  }

  /** Each of them dials at once; but what dials by itself afterwards is one, not one for each. */
  @Test
  void manyRequestsDuringAnOutage_leaveOneThatDialsAgain() {
    AtomicInteger dialed = new AtomicInteger();
    Connection connection =
        connection(
            () -> {
              dialed.incrementAndGet();
              return CompletableFuture.failedFuture(new IllegalStateException("nobody there"));
            });
    for (int i = 0; i < 50; i++) {
      ask(connection);
      time.advance(Duration.ofMillis(1));
    }
    time.advance(TIMEOUT);
    int before = dialed.get();

    time.advance(Duration.ofMinutes(1));

    assertThat(dialed.get() - before).isBetween(40, 60); // Every 1.28 s.
  }

  /** As where no memory is left. */
  @Test
  void dialThatThrowsAnError_isNotTheLastOne() {
    AtomicInteger dialed = new AtomicInteger();
    Connection connection =
        connection(
            () -> {
              if (dialed.incrementAndGet() == 1) {
                throw new OutOfMemoryError("for a test");
              }
              return CompletableFuture.failedFuture(new IllegalStateException("nobody there"));
            });

    assertThatThrownBy(() -> connection.connect().join())
        .hasRootCauseInstanceOf(OutOfMemoryError.class);
    time.advance(Duration.ofSeconds(1));

    assertThat(dialed.get()).isGreaterThan(1);
  }
}
