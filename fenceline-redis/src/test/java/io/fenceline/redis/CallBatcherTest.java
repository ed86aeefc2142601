package io.fenceline.redis;

import static io.fenceline.ReleaseOutcome.ALREADY_LOST;
import static io.fenceline.ReleaseOutcome.RELEASED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.ReleaseOutcome;
import io.fenceline.StoreRefusedException;
import io.fenceline.redis.connection.CallBatcher;
import io.fenceline.redis.layout.Layout;
import io.fenceline.redis.layout.Script;
import io.fenceline.redis.support.Clients;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.proxy.Trigger;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Claims and releases that travel together: each is answered as if it were alone. */
class CallBatcherTest {
  private static final Duration LEASE = Duration.ofMinutes(2);

  private static RedisServer redis;
  private static FaultProxy proxy;

  @RegisterExtension final Clients clients = new Clients();

  @BeforeAll
  static void start() {
    redis = RedisServer.start();
    proxy = FaultProxy.to(redis.host(), redis.port(), Protocol.RESP);
  }

  @AfterEach
  void heal() {
    proxy.heal();
    redis.command("CONFIG", "SET", "maxmemory", "0");
  }

  @AfterAll
  static void stop() {
    proxy.close();
    redis.close();
  }

  /** A client whose driver can be kept busy. */
  private final class Busy {
    final Fenceline client;
    private RedisStore store;

    Busy(Duration operationTimeout) {
      client =
          clients.connect(
              Fenceline.builder()
                  .operationTimeout(operationTimeout)
                  .defaultOptions(LockOptions.defaults().lease(LEASE))
                  .store(
                      (StoreFactory)
                          context -> {
                            store =
                                (RedisStore)
                                    RedisStores.at("redis://" + proxy.address()).open(context);
                            return store;
                          }));
      Clients.acquire(client, "first").close(); // Scripts are known, connections are there.
    }

    List<CompletableFuture<Hold>> claim(String name, int count) {
      List<CompletableFuture<Hold>> claims = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        claims.add(client.lock(name + i).acquireAsync(Clients.AMPLE));
      }
      return claims;
    }

    List<Hold> hold(String name, int count) {
      return claim(name, count).stream().map(Clients::get).toList();
    }

    /** What is asked meanwhile is not written before the driver's thread is set free. */
    void whileTheDriverIsBusy(Runnable asks) {
      CountDownLatch free = new CountDownLatch(1);
      while (!isKeptBusyUntil(free)) {
        // The answer was there before anybody listened, so this thread has heard it itself.
      }
      redis.resetCommandCounts();
      asks.run();
      free.countDown();
    }

    private boolean isKeptBusyUntil(CountDownLatch free) {
      Thread caller = Thread.currentThread();
      CompletableFuture<Boolean> heardByDriver = new CompletableFuture<>();
      store
          .topology()
          .atEach("PING", commands -> commands.ping())
          .thenRun(
              () -> {
                boolean isDriver = Thread.currentThread() != caller;
                heardByDriver.complete(isDriver);
                if (isDriver) {
                  await(free);
                }
              });
      return Clients.get(heardByDriver);
    }

    private static void await(CountDownLatch latch) {
      try {
        assertThat(latch.await(Clients.AMPLE.toSeconds(), TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  private static List<ReleaseOutcome> outcomes(List<CompletableFuture<ReleaseOutcome>> releases) {
    return releases.stream().map(Clients::get).toList();
  }

  private static void assertHolds(Fenceline other, List<Hold> holds) {
    for (Hold hold : holds) {
      assertThat(other.inspect(hold.name()).holders())
          .singleElement()
          .satisfies(holder -> assertThat(holder.token()).isEqualTo(hold.token()));
    }
  }

  @Test
  void manyAtOnce_travelTogether() {
    Busy busy = new Busy(Clients.AMPLE);
    Fenceline other = clients.connect(redis.uri(), LEASE);
    Hold before = Clients.acquire(busy.client, "many-0");
    assertThat(before.release()).isEqualTo(RELEASED);
    Hold taken = Clients.acquire(other, "taken");
    List<CompletableFuture<Hold>> claims = new ArrayList<>();
    List<CompletableFuture<Optional<Hold>>> tried = new ArrayList<>();

    busy.whileTheDriverIsBusy(
        () -> {
          claims.addAll(busy.claim("many-", 2 * CallBatcher.MOST - 1));
          tried.add(busy.client.lock("taken").tryAcquireAsync());
        });
    List<Hold> holds = claims.stream().map(Clients::get).toList();

    assertThat(Clients.get(tried.get(0))).isEmpty();
    // Two for all, and one more to say who is in the way.
    assertThat(redis.commandCount("evalsha")).isEqualTo(3);
    assertThat(holds.get(0).token()).isGreaterThan(before.token());
    assertHolds(other, holds);
    assertThat(taken.release()).isEqualTo(RELEASED);

    List<CompletableFuture<ReleaseOutcome>> releases = new ArrayList<>();
    busy.whileTheDriverIsBusy(() -> holds.forEach(hold -> releases.add(hold.releaseAsync())));
    assertThat(outcomes(releases)).containsOnly(RELEASED);
    assertThat(redis.commandCount("evalsha")).isEqualTo(2);
    assertThat(holds).allSatisfy(hold -> assertThat(other.inspect(hold.name()).isFree()).isTrue());
  }

  @Test
  void sameNameAgain_hasALargerToken() {
    Busy busy = new Busy(Clients.AMPLE);
    List<Hold> first = busy.hold("same-", 3);
    List<CompletableFuture<ReleaseOutcome>> releases = new ArrayList<>();
    busy.whileTheDriverIsBusy(() -> first.forEach(hold -> releases.add(hold.releaseAsync())));
    assertThat(outcomes(releases)).containsOnly(RELEASED);
    redis.command("SET", "fl1:{%d}#".formatted(Layout.place("same-1").bucket()), "35184372088000");
    List<CompletableFuture<Hold>> second = new ArrayList<>();

    busy.whileTheDriverIsBusy(() -> second.addAll(busy.claim("same-", 3)));

    for (int i = 0; i < 3; i++) {
      Hold again = Clients.get(second.get(i));
      assertThat(again.token()).isGreaterThan(first.get(i).token());
      assertThat(again.token() >> 8 == 35184372088001L).isEqualTo(i == 1);
    }
  }

  @Test
  void releaseWhoseGrantIsGone_orWhoseNameIsWaitedFor_isAnsweredAmongOthers() {
    Busy busy = new Busy(Clients.AMPLE);
    Fenceline other = clients.connect(redis.uri(), LEASE);
    List<Hold> holds = busy.hold("mixed-", 3);
    assertThat(other.forceRelease("mixed-0", holds.get(0).token())).isTrue();
    CompletableFuture<Hold> next = other.lock("mixed-1").acquireAsync(Clients.AMPLE);
    Clients.awaitWaiters(other, "mixed-1", 1);
    List<CompletableFuture<ReleaseOutcome>> releases = new ArrayList<>();
    List<CompletableFuture<Hold>> beside = new ArrayList<>();

    busy.whileTheDriverIsBusy(
        () -> {
          holds.forEach(hold -> releases.add(hold.releaseAsync()));
          beside.addAll(busy.claim("beside-", 1));
        });

    assertThat(outcomes(releases)).containsExactly(ALREADY_LOST, RELEASED, RELEASED);
    assertThat(Clients.get(next).token()).isGreaterThan(holds.get(1).token());
    assertThat(Clients.get(beside.get(0)).isValid()).isTrue();
  }

  @Test
  void oneThatGivesUpBeforeItWasWritten_leavesNothing() {
    Busy busy = new Busy(Clients.AMPLE);
    Fenceline other = clients.connect(redis.uri(), LEASE);
    List<CompletableFuture<Hold>> claims = new ArrayList<>();

    busy.whileTheDriverIsBusy(
        () -> {
          claims.addAll(busy.claim("given-up-", 2));
          claims.get(1).cancel(true);
        });

    assertThat(Clients.get(claims.get(0)).isValid()).isTrue();
    // Much sooner than its lease would end.
    Clients.awaitFree(other, "given-up-1", LEASE.dividedBy(4));
    assertThat(other.inspect("given-up-0").isFree()).isFalse();
  }

  @Test
  void serverThatRefusesOne_isAskedForEachAlone() {
    Busy busy = new Busy(Clients.AMPLE);
    Fenceline other = clients.connect(redis.uri(), LEASE);
    List<Hold> holds = busy.hold("full-", 3);
    List<CompletableFuture<ReleaseOutcome>> releases = new ArrayList<>();
    List<CompletableFuture<Optional<Hold>>> tried = new ArrayList<>();

    busy.whileTheDriverIsBusy(
        () -> {
          tried.add(busy.client.lock("no-room").tryAcquireAsync());
          holds.forEach(hold -> releases.add(hold.releaseAsync()));
          redis.command("CONFIG", "SET", "maxmemory", "1");
        });

    assertThat(outcomes(releases)).containsOnly(RELEASED);
    assertThatThrownBy(() -> tried.get(0).get())
        .hasCauseInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("OOM");
    assertThat(other.inspect("no-room").isFree()).isTrue();
  }

  @Test
  void lostAnswerToMany_isAskedForByEach() {
    Busy busy = new Busy(Duration.ofSeconds(2));
    Fenceline other = clients.connect(redis.uri(), LEASE);
    Fault lost = proxy.dropReply(Trigger.first(Clients.calls(Script.BATCH_UNCONTENDED)));
    List<CompletableFuture<Hold>> claims = new ArrayList<>();

    busy.whileTheDriverIsBusy(() -> claims.addAll(busy.claim("lost-", CallBatcher.MOST)));
    List<Hold> holds = claims.stream().map(Clients::get).toList();

    assertThat(lost.timesApplied()).isPositive();
    assertHolds(other, holds);
  }

  @Test
  void scriptThatTheServerHasForgotten_isSentAgain() {
    Busy busy = new Busy(Clients.AMPLE);
    List<CompletableFuture<Hold>> claims = new ArrayList<>();

    busy.whileTheDriverIsBusy(
        () -> {
          claims.addAll(busy.claim("forgotten-", CallBatcher.MOST));
          redis.command("SCRIPT", "FLUSH");
        });

    assertThat(claims).allSatisfy(claim -> assertThat(Clients.get(claim).isValid()).isTrue());
    assertThat(redis.commandCount("eval")).isPositive();
  }

  @Test
  void whatIsAskedWithoutAConnection_hasItsOwnTime() {
    Busy busy = new Busy(Duration.ofSeconds(2));
    Fault refusal = proxy.refuseConnections();
    proxy.closeAll();
    Eventually.until(Clients.AMPLE, "the client dials", () -> refusal.timesApplied() > 0);

    CompletableFuture<Long> first = failureOf(busy.client.lock("apart-0").tryAcquireAsync());
    CompletableFuture<Long> second =
        CompletableFuture.supplyAsync(
                () -> failureOf(busy.client.lock("apart-1").tryAcquireAsync()),
                CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS))
            .thenCompose(failure -> failure);

    // A second apart, of which a busy machine may take some.
    assertThat(Clients.get(second) - Clients.get(first)).isGreaterThan(500_000_000L);
  }

  /** When it failed. */
  private static CompletableFuture<Long> failureOf(CompletableFuture<?> claim) {
    return claim.handle(
        (given, failure) -> {
          assertThat(failure).isNotNull();
          return System.nanoTime();
        });
  }
}
