package io.fenceline.redis.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.redis.RedisStores;
import io.fenceline.redis.support.Clients;
import io.fenceline.redis.support.FaultyTime;
import io.fenceline.redis.support.Stores;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Owner;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.StoreContext;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** No memory or no stack is left in the middle of a request: whoever asked hears of it. */
class ThrownErrorTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private static ClaimRequest claim(Random random, boolean waits) {
    return new ClaimRequest(
        "ledger", Owner.draw(random), Mode.EXCLUSIVE, TIMEOUT, Duration.ZERO, waits);
  }

  /** Without a timer it would not be asked again, and lose its place. */
  @Test
  void claimThatCannotSetItsTimer_fails_soThatItIsSentAgain() {
    FaultyTime time = new FaultyTime(new ManualTime());
    try (RedisServer redis = RedisServer.start()) {
      Random random = new Random();
      StoreContext context =
          new StoreContext(new ClientInfo("test", "localhost", 1), time, random, TIMEOUT, TIMEOUT);
      Stores.Opened opened = new Stores.Opened(RedisStores.at(redis.uri()).open(context), random);
      RenewRequest held = Clients.get(Stores.claim(opened, claim(random, false)));
      assertThat(held.grant().number()).isPositive();

      time.fail(
          delayNanos ->
              delayNanos >= Duration.ofSeconds(1).toNanos()
                  && delayNanos < Duration.ofSeconds(2).toNanos());
      CompletableFuture<RenewRequest> waiting = Stores.claim(opened, claim(random, true));

      Eventually.until(Clients.AMPLE, "a failure", waiting::isCompletedExceptionally);
      opened.store().close();
    }
  }
}
