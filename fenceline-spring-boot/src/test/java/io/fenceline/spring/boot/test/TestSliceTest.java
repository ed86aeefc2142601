package io.fenceline.spring.boot.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockLostException;
import io.fenceline.memory.MemorySpace;
import io.fenceline.spring.Locked;
import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.Optional;
import javax.sql.DataSource;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.TestPropertySource;

/** The slice for tests of users, used as they use it; the same on Boot 4 and 3.5. */
@Timeout(600)
class TestSliceTest {

  static class Nightly {
    @Locked(
        name = "nightly",
        maxWait = "0s",
        keepAtLeast = "10m",
        onRefusal = Locked.OnRefusal.SKIP)
    public Optional<String> report() {
      return Optional.of("reported");
    }
  }

  static class Slow {
    @Autowired ManualTime time;

    @Locked("slow:#{#id}")
    public Duration work(int id, Hold hold) {
      time.pause(hold.lease().plusSeconds(1));
      return hold.lease();
    }
  }

  @Nested
  @FencelineTest
  @Import({Nightly.class, Slow.class})
  @TestPropertySource(
      properties = {
        "fenceline.store=redis://nowhere.invalid",
        "fenceline.groups.slow.names=slow:*",
        "fenceline.groups.slow.lease=7s"
      })
  class Slice {
    @Autowired Nightly nightly;
    @Autowired Slow slow;
    @Autowired ManualTime time;
    @Autowired MemorySpace space;
    @Autowired Fenceline fenceline;
    @Autowired ObjectProvider<DataSource> dataSources;

    @Test
    void time_passesWhenTheTestSaysSo() {
      assertThat(nightly.report()).isPresent();
      assertThat(nightly.report()).isEmpty();
      time.advance(Duration.ofMinutes(11));
      assertThat(nightly.report()).isPresent();
      time.advance(Duration.ofMinutes(11));
    }

    @Test
    void pausePastTheLeaseOfItsGroup_losesTheLock() {
      assertThatThrownBy(() -> slow.work(1, null))
          .isInstanceOf(LockLostException.class)
          .hasMessageContaining("7s lease");
    }

    @Test
    void anotherInstance_isASecondClientOfTheSpace() {
      try (Fenceline other = Fenceline.builder().store(space.factory()).time(time).connect();
          Hold held = other.lock("nightly").tryAcquire().orElseThrow()) {
        assertThat(held.isValid()).isTrue();
        assertThat(nightly.report()).isEmpty();
      }
    }

    @Test
    void nothingElseOfTheApplication_isStarted() {
      assertThat(dataSources.stream()).isEmpty();
      assertThat(fenceline.store()).startsWith("memory");
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Application {}

  /** An application whose own store is not there. */
  @Nested
  @SpringBootTest(
      classes = {Application.class, Nightly.class},
      properties = {
        "fenceline.store=redis://nowhere.invalid",
        "spring.main.web-application-type=none",
        "spring.datasource.url=jdbc:h2:mem:slice",
        "spring.jpa.hibernate.ddl-auto=none"
      })
  @AutoConfigureTestFenceline
  class WholeApplication {
    @Autowired Nightly nightly;
    @Autowired ManualTime time;
    @Autowired ObjectProvider<DataSource> dataSources;

    @Test
    void hasItsOwnBeans_andLocksInMemory() {
      assertThat(dataSources.stream()).hasSize(1);
      assertThat(nightly.report()).isPresent();
      assertThat(nightly.report()).isEmpty();
      time.advance(Duration.ofMinutes(11));
      assertThat(nightly.report()).isPresent();
    }
  }
}
