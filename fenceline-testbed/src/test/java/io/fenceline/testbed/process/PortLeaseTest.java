package io.fenceline.testbed.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PortLeaseTest {

  @Test
  void leasesOfOneJvmDiffer() {
    List<PortLease> leases = ServerProcess.takePorts(200);
    Set<Integer> ports = new HashSet<>();
    leases.forEach(lease -> ports.add(lease.port()));
    leases.forEach(PortLease::close);

    assertThat(ports).hasSize(200);
  }

  @Test
  void anotherJvmDoesNotGetALeasedPort() {
    Set<Integer> ours = new HashSet<>();
    List<PortLease> leases = new ArrayList<>(ServerProcess.takePorts(3_000));
    leases.forEach(lease -> ours.add(lease.port()));

    try (JavaProcess other = JavaProcess.of(TakesPorts.class).start()) {
      String line = other.expect("took", Duration.ofSeconds(20));
      List<Integer> theirs = new ArrayList<>();
      for (String word : line.substring("took ".length()).split(" ")) {
        theirs.add(Integer.valueOf(word));
      }
      assertThat(theirs).hasSize(200).doesNotContainAnyElementsOf(ours);
    } finally {
      leases.forEach(PortLease::close);
    }
  }

  static final class TakesPorts {
    public static void main(String[] args) {
      StringBuilder line = new StringBuilder("took");
      ServerProcess.takePorts(200).forEach(lease -> line.append(' ').append(lease.port()));
      System.out.println(line);
    }
  }

  @Test
  void aTakenPortIsNoReasonToFail() {
    AtomicInteger attempts = new AtomicInteger();

    String started =
        PortTakenException.retry(
            () -> {
              if (attempts.incrementAndGet() < 3) {
                throw new PortTakenException("taken");
              }
              return "started";
            });

    assertThat(started).isEqualTo("started");
  }
}
