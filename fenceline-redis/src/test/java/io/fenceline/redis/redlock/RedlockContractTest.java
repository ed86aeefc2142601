package io.fenceline.redis.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.redis.RedlockStores;
import io.fenceline.redis.replay.RecordedRequest;
import io.fenceline.redis.replay.Recording;
import io.fenceline.redis.replay.Replay;
import io.fenceline.redis.replay.ReplayServer;
import io.fenceline.testbed.proxy.FaultProxies;
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

/**
 * Five independent servers keep the contract. Their clients are always its own: none is handed in
 * that could live on after a close.
 */
@Execution(ExecutionMode.CONCURRENT)
class RedlockContractTest extends LockContract {
  private static final Logger LOG = LoggerFactory.getLogger(RedlockContractTest.class);

  private static RedlockServers nodes;

  private static Recording recording;

  @BeforeAll
  static void start() {
    nodes = RedlockServers.start(5);
    recording = Recording.of(nodes.get(0));
  }

  /** What the contract has asked of one node is asked again, late and twice. */
  @AfterAll
  static void replay() {
    RedlockDialect dialect = new RedlockDialect();
    List<RecordedRequest> requests = recording.requests(dialect);
    recording.close();
    nodes.close();
    try (ReplayServer server = new ReplayServer(dialect, script -> script)) {
      Replay replay = new Replay(server, dialect);
      long start = System.nanoTime();
      replay.playMany(requests);
      LOG.info(
          "{} requests were replayed in {} runs, {} s",
          requests.size(),
          replay.runs(),
          (System.nanoTime() - start) / 1_000_000_000);
      assertThat(replay.runs()).isGreaterThan(100);
      assertThat(replay.findings()).isEmpty();
    }
  }

  @Override
  protected StoreHarness harness() {
    return StoreHarness.onRealTime(RedlockStores.at(nodes.uri()), Duration.ofSeconds(3));
  }

  @Override
  protected Optional<Forgetful> forgetful() {
    RedlockServers weak =
        RedlockServers.start(
            3,
            () ->
                RedisServer.builder()
                    .appendOnly("always")
                    .maxMemory("100mb", "volatile-lru")
                    .start());
    return Optional.of(new Forgetful(RedlockStores.at(weak.uri()), "evicts by volatile-lru", weak));
  }

  @Override
  protected Optional<Proxied> proxied() {
    FaultProxies network = FaultProxies.before(nodes.all(), Protocol.RESP);
    return Optional.of(
        new Proxied(RedlockStores.at(RedlockServers.uri(network.addresses())), network));
  }
}
