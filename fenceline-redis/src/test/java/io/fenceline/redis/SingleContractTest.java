package io.fenceline.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.redis.replay.RecordedRequest;
import io.fenceline.redis.replay.Recording;
import io.fenceline.redis.replay.RedisDialect;
import io.fenceline.redis.replay.Replay;
import io.fenceline.redis.replay.ReplayServer;
import io.fenceline.redis.support.DocumentedRights;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.contract.LockContract;
import io.fenceline.testkit.harness.StoreHarness;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One Redis server keeps the contract, with a user that has the documented rights only. */
@Execution(ExecutionMode.CONCURRENT)
class SingleContractTest extends LockContract {
  private static final Logger LOG = LoggerFactory.getLogger(SingleContractTest.class);

  private static RedisServer redis;
  private static Recording recording;

  @BeforeAll
  static void start() {
    redis = RedisServer.builder().user("locks", DocumentedRights.rule()).start();
    recording = Recording.of(redis);
  }

  /** What the contract has asked of the server is asked again, late and twice. */
  @AfterAll
  static void replay() {
    List<RecordedRequest> requests = recording.requests(new RedisDialect());
    recording.close();
    redis.close();
    try (ReplayServer server = new ReplayServer(new RedisDialect(), script -> script)) {
      Replay replay = new Replay(server, new RedisDialect());
      replay.playMany(requests);
      LOG.info("{} requests were replayed in {} runs", requests.size(), replay.runs());
      assertThat(replay.findings()).isEmpty();
    }
  }

  private static String uri() {
    return DocumentedRights.uri(redis.uri());
  }

  @Override
  protected StoreHarness harness() {
    return StoreHarness.onRealTime(RedisStores.at(uri()), Duration.ofSeconds(3));
  }

  @Override
  protected Optional<Forgetful> forgetful() {
    RedisServer weak =
        RedisServer.builder().appendOnly("always").maxMemory("100mb", "volatile-lru").start();
    return Optional.of(new Forgetful(RedisStores.at(weak.uri()), "evicts by volatile-lru", weak));
  }

  @Override
  protected Optional<Proxied> proxied() {
    FaultProxy proxy = FaultProxy.to(redis.host(), redis.port(), Protocol.RESP);
    return Optional.of(
        new Proxied(RedisStores.at(uri().replace(redis.address(), proxy.address())), proxy));
  }
}
