package io.fenceline.redis.diagnostics;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.diagnosis.Certainty;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.redis.support.SmallCluster;
import io.fenceline.testbed.server.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What a client finds out, when it connects, about what a server forgets. */
class CrashSafetyTest {

  private static void assertDurable(RedisServer server, Certainty durable, String because) {
    try (server;
        Fenceline client = Fenceline.connect(server.uri())) {
      assertThat(client.guarantees().durable()).isEqualTo(durable);
      assertThat(client.guarantees().onCrash()).contains(because);
    }
  }

  @Test
  void appendOnlyFileThatIsFlushedEachTime_isDurable() {
    try (RedisServer server = RedisServer.builder().appendOnly("always").start();
        Fenceline client =
            Fenceline.builder().store(server.uri()).require(Guarantee.DURABLE).connect()) {
      assertThat(client.guarantees().durable()).isEqualTo(Certainty.YES);
    }
  }

  @Test
  void evictionWithoutALimitOfMemory_takesNothing() {
    assertDurable(
        RedisServer.builder().appendOnly("always").config("maxmemory-policy allkeys-lru").start(),
        Certainty.YES,
        "append-only file");
  }

  @Test
  void appendOnlyFileThatIsFlushedEachSecond_isNotDurable() {
    assertDurable(
        RedisServer.builder().appendOnly("everysec").start(), Certainty.NO, "appendfsync everysec");
  }

  @Test
  void shardThatIsDown_cannotTell() {
    try (SmallCluster cluster = new SmallCluster(0, 2, "appendonly yes", "appendfsync always")) {
      String uri = SmallCluster.uri(cluster.sharing(0), cluster.sharing(1));
      cluster.sharing(1).kill();
      try (Fenceline client =
          Fenceline.builder().store(uri).operationTimeout(Duration.ofMillis(500)).connect()) {
        assertThat(client.guarantees().durable()).isEqualTo(Certainty.UNKNOWN);
        assertThat(client.guarantees().onCrash())
            .contains(cluster.sharing(1).address() + " could not be asked");
      }
    }
  }

  @Test
  void withoutAnAppendOnlyFile_isNotDurable() {
    assertDurable(RedisServer.start(), Certainty.NO, "keeps no append-only file");
  }

  @Test
  void userWhoMayNotReadTheSettings_cannotTell() {
    try (RedisServer server =
            RedisServer.builder()
                .appendOnly("always")
                .user("app", "on >app-secret ~* &* +@all -config -@dangerous")
                .start();
        Fenceline client = Fenceline.connect("redis://app:app-secret@" + server.address())) {
      assertThat(client.guarantees().durable()).isEqualTo(Certainty.UNKNOWN);
      assertThat(client.guarantees().onCrash()).contains("may not run INFO");
    }
  }

  @Test
  void userWhoMayReadInfoOnly_cannotTellHowOftenItIsFlushed() {
    try (RedisServer server =
            RedisServer.builder()
                .appendOnly("always")
                .user("app", "on >app-secret ~* &* +@all -config")
                .start();
        Fenceline client = Fenceline.connect("redis://app:app-secret@" + server.address())) {
      assertThat(client.guarantees().durable()).isEqualTo(Certainty.UNKNOWN);
      assertThat(client.guarantees().onCrash()).contains("appendfsync");
    }
  }
}
