package io.fenceline.redis.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.fenceline.redis.layout.Call;
import io.fenceline.redis.layout.Layout;
import io.fenceline.redis.layout.Script;
import io.fenceline.redis.support.Clients;
import io.fenceline.redis.support.FaultyTime;
import io.fenceline.redis.support.SmallCluster;
import io.fenceline.redis.support.Stores;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Owner;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.StoreContext;
import io.fenceline.testbed.proxy.Direction;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import io.fenceline.time.Time;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import java.net.ConnectException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Requests whose time is over, and connections that are of no use any more. */
class GivenUpTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private static StoreContext context(Time time) {
    return new StoreContext(
        new ClientInfo("test", "localhost", 1), time, new Random(), TIMEOUT, TIMEOUT);
  }

  @Test
  void requestThatExpiresWhileItIsBeingSent_isNotSent_orNotCalledUnsent() {
    AtomicBoolean wasSent = new AtomicBoolean();
    List<Reply<String>> itself = new ArrayList<>();
    Object what =
        new Object() {
          @Override
          public String toString() { // Called in the middle of it.
            wasSent.set(itself.get(0).sent(() -> {}));
            return "something";
          }
        };
    itself.add(new Reply<>(what, "a server"));

    itself.get(0).expire();

    assertThatThrownBy(itself.get(0)::join)
        .cause()
        .isInstanceOfSatisfying(
            NoAnswerException.class,
            failure -> assertThat(failure.wasSent()).isEqualTo(wasSent.get()));
  }

  @Test
  void manyThatWaitForReplicas_allFail_whenTheServerIsClosed() {
    ManualTime time = new ManualTime();
    try (RedisServer redis = RedisServer.start()) {
      Driver driver = new Driver(null, ClientOptions.create(), TIMEOUT);
      Server server =
          new Server(
              "test",
              driver,
              RedisURI.create(redis.uri()),
              context(time),
              new ReplyTimeouts(time, TIMEOUT.toNanos()),
              (channel, message) -> {},
              () -> {});
      redis.pause(); // So that none of them is sent.
      List<CompletableFuture<List<Object>>> answers = new ArrayList<>();
      Call probe = new Call(Script.PROBE, new byte[][] {Layout.mark(0)});
      for (int i = 0; i < 20_000; i++) {
        answers.add(server.callAndWait(probe, new ReplicaWait(1, Duration.ofSeconds(1)), false));
      }

      server.close();

      assertThat(answers.stream().filter(answer -> !answer.isCompletedExceptionally()).count())
          .isZero();
      redis.resume();
      driver.close();
    }
  }

  /** Its caller would not hear of the grant. */
  @Test
  void claimWhoseTurnToWaitForReplicasComesTooLate_isNotSent() {
    ManualTime time = new ManualTime();
    try (RedisServer redis = RedisServer.start()) {
      redis.command("SCRIPT", "LOAD", new String(Script.PROBE.body(), StandardCharsets.US_ASCII));
      Driver driver = new Driver(null, ClientOptions.create(), TIMEOUT);
      Server server =
          new Server(
              "test",
              driver,
              RedisURI.create(redis.uri()),
              context(time),
              new ReplyTimeouts(time, TIMEOUT.toNanos()),
              (channel, message) -> {},
              () -> {});
      redis.pause(); // So that those before it keep their turns.
      Call probe = new Call(Script.PROBE, new byte[][] {Layout.mark(0)});
      ReplicaWait replicas = new ReplicaWait(1, Duration.ofMillis(1));
      List<CompletableFuture<List<Object>>> late = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        late.add(server.callAndWait(probe, replicas, false));
      }
      time.advance(TIMEOUT);
      Eventually.until(
          Clients.AMPLE,
          "all to have been given up",
          () -> {
            time.advance(Duration.ofMillis(10));
            return late.stream().allMatch(CompletableFuture::isCompletedExceptionally);
          });
      redis.resume();

      CompletableFuture<List<Object>> next = server.callAndWait(probe, replicas, false);
      Eventually.until(
          Clients.AMPLE,
          "an answer",
          () -> {
            time.advance(Duration.ofMillis(100)); // It may have to be dialed again.
            return next.isDone();
          });

      assertThat(next).isCompletedWithValueMatching(answer -> !answer.isEmpty());
      assertThat(redis.commandCount("evalsha")).isEqualTo(1);
      server.close();
      driver.close();
    }
  }

  /** As where no memory or no stack is left: whoever comes next has a turn all the same. */
  @Test
  void turnToWaitForReplicasThatThrowsAnError_isNotTheLastOne() {
    ManualTime time = new ManualTime();
    FaultyTime faulty = new FaultyTime(time);
    try (RedisServer redis = RedisServer.start()) {
      Driver driver = new Driver(null, ClientOptions.create(), TIMEOUT);
      ReplyTimeouts deadlines = new ReplyTimeouts(faulty, TIMEOUT.toNanos());
      Server server =
          new Server(
              "test",
              driver,
              RedisURI.create(redis.uri()),
              context(faulty),
              deadlines,
              (channel, message) -> {},
              () -> {});
      Call probe = new Call(Script.PROBE, new byte[][] {Layout.mark(0)});
      ReplicaWait replicas = new ReplicaWait(1, Duration.ofMillis(1));
      faulty.fail(delayNanos -> delayNanos == deadlines.unsentNanos);
      Throwable thrown = catchThrowable(() -> server.callAndWait(probe, replicas, false).join());
      faulty.fail(delayNanos -> false);

      CompletableFuture<List<Object>> next = server.callAndWait(probe, replicas, false);
      Eventually.until(
          Clients.AMPLE,
          "an answer",
          () -> {
            time.advance(Duration.ofMillis(100));
            return next.isDone();
          });

      assertThat(next).isCompletedWithValueMatching(answer -> !answer.isEmpty());
      assertThat(thrown).hasRootCauseInstanceOf(FaultyTime.Deep.class);
      server.close();
      driver.close();
    }
  }

  @Test
  void claimInACluster_isNotSent_whenItsCallerHasGivenUp() {
    ManualTime time = new ManualTime();
    try (SmallCluster cluster = new SmallCluster(0, 1, "cluster-require-full-coverage yes");
        FaultProxy proxy =
            FaultProxy.to(cluster.sharing(0).host(), cluster.sharing(0).port(), Protocol.RESP)) {
      RedisServer node = cluster.sharing(0);
      node.command("CONFIG", "SET", "cluster-announce-port", Integer.toString(proxy.port()));
      Eventually.until(
          Clients.AMPLE,
          "the proxy's address in the map",
          () -> node.command("CLUSTER", "SLOTS").toString().contains(proxy.port() + ""));
      Stores.Opened opened = Stores.open("redis-cluster://" + proxy.address(), time);
      node.command("CLUSTER", "DELSLOTS", "1"); // Nothing is served any more.
      awaitState(node, "fail");
      ClaimRequest request =
          new ClaimRequest(
              "given-up",
              Owner.draw(opened.random()),
              Mode.EXCLUSIVE,
              Duration.ofMinutes(5),
              Duration.ZERO,
              false);

      Fault slow = proxy.stall(Direction.TO_CLIENT);
      CompletableFuture<RenewRequest> claim = Stores.claim(opened, request);
      time.advance(TIMEOUT.dividedBy(3));
      int timers = time.timers();
      slow.lift(); // "Not now", so it is asked again, with a time of its own.
      Eventually.until(Clients.AMPLE, "another attempt", () -> time.timers() > timers);
      int inBetween = time.timers();
      Fault refused = proxy.refuseConnections();
      proxy.closeAll();
      Eventually.until( // Two of them are dialed again.
          Clients.AMPLE, "its connections to be missed", () -> time.timers() >= inBetween + 2);
      Eventually.until(
          Clients.AMPLE,
          "the end of what was asked",
          () -> {
            time.advance(Duration.ofMillis(100));
            return claim.isDone();
          });
      node.command("CLUSTER", "ADDSLOTS", "1");
      awaitState(node, "ok");
      refused.lift();
      CompletableFuture<?> look = opened.store().inspect("other");
      Eventually.until(
          Clients.AMPLE,
          "an answer to something else",
          () -> {
            time.advance(Duration.ofMillis(100));
            return look.isDone();
          });

      assertThat(claim).isCompletedExceptionally();
      assertThat(look).isCompletedWithValueMatching(found -> found != null);
      String head = new String(Layout.place("given-up").keys()[0], StandardCharsets.UTF_8);
      assertThat(node.command("EXISTS", head)).isEqualTo(0L);
      opened.store().close();
    }
  }

  private static void awaitState(RedisServer node, String state) {
    Eventually.until(
        Clients.AMPLE,
        "state " + state,
        () -> String.valueOf(node.command("CLUSTER", "INFO")).contains("cluster_state:" + state));
  }

  /** Redis 6 wraps what a script failed with. */
  @Test
  void scriptThatFindsAReplica_bringsAnotherConnection_alsoWithRedis6() {
    ManualTime time = new ManualTime();
    try (RedisServer redis = RedisServer.start()) {
      Driver driver = new Driver(null, ClientOptions.create(), TIMEOUT);
      Server server =
          new Server(
              "test",
              driver,
              RedisURI.create(redis.uri()),
              context(time),
              new ReplyTimeouts(time, TIMEOUT.toNanos()),
              (channel, message) -> {},
              () -> {});
      Clients.get(server.connect());
      long before = connections(redis);
      String answer =
          "return redis.error_reply(\"ERR Error running script (call to f_0123): @user_script:7:"
              + " @user_script: 7: -READONLY You can't write against a read only replica.\")";

      CompletableFuture<Object> failed =
          server
              .connection(Topology.Purpose.CLAIMS)
              .run("EVAL", commands -> commands.eval(answer, ScriptOutputType.STATUS));

      assertThatThrownBy(() -> Clients.get(failed)).hasMessageContaining("READONLY");
      Eventually.until(Clients.AMPLE, "another connection", () -> connections(redis) > before);
      server.close();
      driver.close();
    }
  }

  @Test
  void serverThatIsAway_isDialedByOne_howeverManyHaveAskedForIt() {
    ManualTime time = new ManualTime();
    AtomicLong dials = new AtomicLong();
    Connection connection =
        new Connection(
            "away",
            () -> {
              dials.incrementAndGet();
              return CompletableFuture.failedFuture(new ConnectException("Connection refused"));
            },
            time,
            new ReplyTimeouts(time, TIMEOUT.toNanos()),
            () -> {});
    for (int i = 0; i < 50; i++) {
      assertThat(connection.connect()).isCompletedExceptionally();
      time.advance(Duration.ofMillis(100));
    }

    long before = dials.get();
    time.advance(Duration.ofMinutes(1));

    assertThat(time.timers()).isEqualTo(1);
    assertThat(dials.get() - before).isBetween(40L, 50L); // One each 1.28 s.
    connection.closeAsync();
  }

  /** A call may be on its way to a server that is closed meanwhile, as no longer a master. */
  @Test
  void serverThatWasClosed_isDialedNoMore_whateverItIsAskedFor() {
    ManualTime time = new ManualTime();
    try (RedisServer redis = RedisServer.start()) {
      Driver driver = new Driver(null, ClientOptions.create(), TIMEOUT);
      Server server =
          new Server(
              "test",
              driver,
              RedisURI.create(redis.uri()),
              context(time),
              new ReplyTimeouts(time, TIMEOUT.toNanos()),
              (channel, message) -> {},
              () -> {});
      Clients.get(server.connect());
      long before = connections(redis);
      Call probe = new Call(Script.PROBE, new byte[][] {Layout.mark(0)});

      server.close();

      for (CompletableFuture<?> asked :
          List.of(
              server.asking().callAsking(probe),
              server.callAndWait(probe, new ReplicaWait(1, Duration.ofSeconds(1)), false),
              server.subscriber().listen("fl1:@somebody", false))) {
        assertThatThrownBy(() -> Clients.get(asked))
            .hasRootCauseInstanceOf(NoAnswerException.class)
            .hasMessageContaining("The connection is closed");
      }
      assertThat(connections(redis)).isEqualTo(before);
      driver.close();
    }
  }

  /** So far, of the driver only. */
  private static long connections(RedisServer redis) {
    return redis.commandCount("hello");
  }
}
