package io.fenceline.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.testbed.process.JavaProcess;
import io.fenceline.testbed.process.ProcessState;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A process that is stopped, or killed, while it has the lock. */
class PausedClientTest {
  private static final Duration LEASE = Duration.ofSeconds(3);

  private static JavaProcess holder(String name) {
    return JavaProcess.of(Holder.class)
        .argument(Servers.uri(Servers.single().address(), Servers.SESSION))
        .argument(Long.toString(LEASE.toMillis()))
        .argument(name)
        .start();
  }

  private static long token(String line) {
    return Long.parseLong(line.substring("acquired ".length()));
  }

  @Test
  void stoppedPastItsLease_itKnowsOnceItRuns_andTheNextOneHasALargerToken() {
    try (Fleet fleet = new Fleet();
        JavaProcess holder = holder("stopped")) {
      long token = token(holder.expect("acquired", Fleet.AMPLE));
      holder.send("?");
      assertThat(holder.expect("valid", Fleet.AMPLE)).isEqualTo("valid true");

      holder.pause();
      Fenceline other = fleet.client("other", Servers.store(Servers.single().address()), LEASE);
      Hold next = Fleet.get(other.lock("stopped").acquireAsync(Fleet.AMPLE));
      assertThat(holder.state()).isEqualTo(ProcessState.STOPPED);
      assertThat(next.token()).isGreaterThan(token);
      holder.send("?"); // Is read as soon as it runs, before anything that ZooKeeper has to say.
      holder.resume();

      assertThat(holder.expectAll(Fleet.AMPLE, "valid", "lost")).contains("valid false");
      assertThat(next.isValid()).isTrue();
    }
  }

  @Test
  void killed_itsNameOpensWhenTheSessionHasTimedOut() {
    try (Fleet fleet = new Fleet();
        JavaProcess holder = holder("killed")) {
      long token = token(holder.expect("acquired", Fleet.AMPLE));
      Fenceline other = fleet.client("other", Servers.store(Servers.single().address()), LEASE);

      holder.kill();
      assertThat(holder.state()).isEqualTo(ProcessState.GONE);

      assertThat(Fleet.get(other.lock("killed").acquireAsync(Fleet.AMPLE)).token())
          .isGreaterThan(token);
    }
  }
}
