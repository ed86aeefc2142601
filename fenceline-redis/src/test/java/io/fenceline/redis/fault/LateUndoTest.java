package io.fenceline.redis.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.FencelineBuilder;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.event.LockListener;
import io.fenceline.event.StoreFailed;
import io.fenceline.redis.layout.Script;
import io.fenceline.redis.support.Clients;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.proxy.Trigger;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What undoes an attempt, and is still under way when the next one of the claim is granted. */
class LateUndoTest {
  private static final Duration LEASE = Duration.ofSeconds(60);

  @RegisterExtension final Clients clients = new Clients();

  private static FencelineBuilder builder(String address) {
    return Fenceline.builder()
        .store("redis://" + address + "?wait=1&waitTimeout=300ms")
        .defaultOptions(LockOptions.defaults().lease(LEASE));
  }

  @Test
  void ofAGrantThatWasNotAcknowledged_endsNothing() {
    try (RedisServer master = RedisServer.start();
        RedisServer replica = RedisServer.builder().replicaOf(master).start();
        FaultProxy proxy = FaultProxy.to(master.host(), master.port(), Protocol.RESP)) {
      replica.awaitInSync(Clients.AMPLE);
      CountDownLatch failed = new CountDownLatch(1);
      Fenceline client =
          clients.connect(
              builder(proxy.address())
                  .operationTimeout(Duration.ofSeconds(2))
                  .listener(
                      new LockListener() {
                        @Override
                        public void onStoreFailed(StoreFailed event) {
                          failed.countDown();
                        }
                      }));
      Fenceline other = clients.connect(builder(master.address()));
      Fault late = proxy.holdRequest(Trigger.every(Clients.calls(Script.WITHDRAW)));

      replica.pause();
      CompletableFuture<Hold> claim = client.lock("ledger").acquireAsync(Clients.AMPLE);
      Eventually.until(Clients.AMPLE, "the first attempt to fail", () -> failed.getCount() == 0);
      replica.resume();
      Hold hold = Clients.get(claim);
      long before = master.commandCount("evalsha");
      late.lift();
      if (late.timesApplied() > 0) {
        Eventually.until(
            Clients.AMPLE, "it to arrive", () -> master.commandCount("evalsha") > before);
      }

      assertThat(other.lock("ledger").tryAcquire()).isEmpty();
      assertThat(hold.isValid()).isTrue();
      assertThat(other.inspect("ledger").holders())
          .singleElement()
          .satisfies(holder -> assertThat(holder.token()).isEqualTo(hold.token()));
      clients.afterEach(null);
    }
  }
}
