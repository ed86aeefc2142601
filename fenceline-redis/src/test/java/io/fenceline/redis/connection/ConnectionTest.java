package io.fenceline.redis.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
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

  /** The driver refuses what is asked between the end of a connection and its event. */
  private static final class SlowToTell extends ChannelInboundHandlerAdapter {
    final CountDownLatch ended = new CountDownLatch(1);
    final CountDownLatch mayTell = new CountDownLatch(1);

    @Override
    public void channelInactive(ChannelHandlerContext context) throws InterruptedException {
      ended.countDown();
      mayTell.await(30, TimeUnit.SECONDS);
      context.fireChannelInactive();
    }
  }

  /**
   * Only one request is lost with a connection that ended unnoticed; the next waits for another.
   */
  @Test
  void requestThatTheDriverRefuses_endsItsConnection() throws Exception {
    SlowToTell slow = new SlowToTell();
    ClientResources resources =
        DefaultClientResources.builder()
            .nettyCustomizer(
                new NettyCustomizer() {
                  @Override
                  public void afterChannelInitialized(Channel channel) {
                    channel.pipeline().addFirst(slow);
                  }
                })
            .build();
    Driver driver = new Driver(resources, ClientOptions.create(), TIMEOUT);
    AtomicInteger dialed = new AtomicInteger();
    try (RedisServer redis = RedisServer.start()) {
      Connection connection =
          connection(
              () ->
                  dialed.incrementAndGet() == 1
                      ? driver.dial(RedisURI.create(redis.uri()))
                      : new CompletableFuture<>());
      connection.connect().join();
      redis.kill();
      assertThat(slow.ended.await(30, TimeUnit.SECONDS)).isTrue();

      CompletableFuture<String> refused = connection.run("PING", commands -> commands.ping());
      CompletableFuture<String> next = connection.run("PING", commands -> commands.ping());

      assertThatThrownBy(refused::join)
          .isInstanceOf(CompletionException.class)
          .hasRootCauseMessage("The connection to test broke");
      assertThat(next).isNotDone();
      assertThat(dialed).hasValue(2);
    } finally {
      slow.mayTell.countDown();
      driver.close();
      resources.shutdown(0, 0, TimeUnit.SECONDS);
    }
  }

  /** While no greeting is answered, the second connection is there: neither waits for the other. */
  @Test
  void clientThatConnects_dialsForClaimsAndForRenewalsAtOnce() throws Exception {
    try (RedisServer redis = RedisServer.start();
        FaultProxy proxy = FaultProxy.to("127.0.0.1", redis.port(), Protocol.RESP)) {
      Fault held = proxy.holdReplies();
      CompletableFuture<Fenceline> connecting =
          CompletableFuture.supplyAsync(
              () ->
                  Fenceline.builder()
                      .store("redis://" + proxy.address())
                      .connectTimeout(Duration.ofMinutes(1))
                      .connect());
      try {
        Eventually.until(
            Duration.ofSeconds(30), "both connections", () -> proxy.connectionsAccepted() == 2);
        assertThat(connecting).isNotDone();
      } finally {
        held.lift();
      }
      connecting.get(30, TimeUnit.SECONDS).close();
    }
  }
}
