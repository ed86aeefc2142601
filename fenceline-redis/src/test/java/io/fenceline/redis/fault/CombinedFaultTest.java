package io.fenceline.redis.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.StaleTokenException;
import io.fenceline.fence.MemoryFence;
import io.fenceline.redis.support.Clients;
import io.fenceline.redis.support.LockWorker;
import io.fenceline.testbed.process.JavaProcess;
import io.fenceline.testbed.process.ProcessState;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Two faults at once: what is declared for them, and nothing worse. */
class CombinedFaultTest {
  private static final Duration LEASE = Duration.ofSeconds(2);

  @RegisterExtension final Clients clients = new Clients();

  /**
   * Everything forgotten and the clock behind: the one case in which numbers restart, for a client
   * that has seen none. The fence refuses such a token, and names the way out, which works.
   */
  @Test
  void wipedWithTheClockBehind_aStrangersTokenRestarts_andTheFenceRefusesIt() {
    try (RedisServer redis = RedisServer.builder().fakeTime().start()) {
      Fenceline client = clients.connect(redis.uri(), LEASE);
      MemoryFence fence = new MemoryFence();
      Hold first = Clients.acquire(client, "account");
      fence.check("account", first.fencingToken());
      first.release();

      redis.clockOffset(Duration.ofHours(-1));
      Eventually.until(Clients.AMPLE, "the clock to be back", () -> behind(redis) > 3_000);
      redis.command("FLUSHALL");
      Hold restarted = Clients.acquire(clients.connect(redis.uri(), LEASE), "account");

      assertThat(restarted.token()).isLessThan(first.token());
      assertThatThrownBy(() -> fence.check("account", restarted.fencingToken()))
          .isInstanceOf(StaleTokenException.class)
          .hasMessageContaining("tokenBase");
      restarted.release();
      Hold raised =
          Clients.acquire(
              clients.connect(Fenceline.builder().store(redis.uri()).tokenBase(first.token() >> 8)),
              "account");
      fence.check("account", raised.fencingToken());
      clients.afterEach(null);
    }
  }

  private static long behind(RedisServer redis) {
    List<?> time = (List<?>) redis.command("TIME");
    return Instant.now().getEpochSecond() - Long.parseLong(String.valueOf(time.get(0)));
  }

  /** A holder that is stopped can't learn that the server forgot it; its token tells. */
  @Test
  void serverWipedWhileTheHolderIsStopped_theHolderIsLostAndBelowTheNext() {
    try (RedisServer redis = RedisServer.start();
        JavaProcess worker =
            JavaProcess.of(LockWorker.class)
                .argument(redis.uri())
                .argument("both")
                .argument(Long.toString(LEASE.toMillis()))
                .start()) {
      worker.expect("ready", Clients.AMPLE);
      worker.send("acquire");
      long stale = Long.parseLong(worker.expect("acquired", Clients.AMPLE).split(" ")[1]);
      Fenceline other = clients.connect(redis.uri(), Duration.ofMinutes(5));

      worker.pause();
      redis.kill();
      redis.restart();
      assertThat(worker.state()).isEqualTo(ProcessState.STOPPED);
      assertThat((Long) redis.command("DBSIZE")).isZero();
      // At once, since nothing is left of the first: this is where I1 is not promised.
      Hold next = Clients.acquire(other, "both");
      Eventually.until(
          Clients.AMPLE,
          "the stopped one's lease to end",
          () -> hasAge(next, LEASE.plusMillis(500)));
      worker.resume();
      worker.send("valid");

      assertThat(worker.expect("valid", Clients.AMPLE)).isEqualTo("valid false");
      assertThat(next.token()).isGreaterThan(stale);
      assertThat(next.isValid()).isTrue();
      assertThat(other.inspect("both").holders().get(0).id()).isEqualTo(next.id());
      clients.afterEach(null);
    }
  }

  private static boolean hasAge(Hold hold, Duration age) {
    return hold.acquiredAt().plus(age).isBefore(Instant.now());
  }
}
