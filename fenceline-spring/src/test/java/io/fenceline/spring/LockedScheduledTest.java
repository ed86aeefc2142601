package io.fenceline.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.LockOptions;
import io.fenceline.memory.MemorySpace;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** Spring's own scheduler, in two instances of one application. */
@Timeout(300)
class LockedScheduledTest {
  private static final Duration BOUND = Duration.ofSeconds(60);

  @Configuration(proxyBeanMethods = false)
  @EnableLocked(proxyTargetClass = true)
  @EnableScheduling
  static class Enabled {}

  /** On the clock of each instance every few milliseconds. */
  static class Jobs {
    private final AtomicInteger runs;

    Jobs(AtomicInteger runs) {
      this.runs = runs;
    }

    @Scheduled(fixedDelay = 5)
    @Locked(
        name = "nightly",
        maxWait = "0s",
        keepAtLeast = "10m",
        onRefusal = Locked.OnRefusal.SKIP)
    public void nightly() {
      runs.incrementAndGet();
    }
  }

  /** Asked at each call, also at one that is skipped. */
  static class Asked implements LockSettings {
    private final AtomicInteger calls = new AtomicInteger();

    @Override
    public LockOptions options(String name, LockOptions ofClient) {
      calls.incrementAndGet();
      return ofClient;
    }

    @Override
    public Duration maxWait(String name) {
      return Duration.ZERO;
    }
  }

  /** One instance of the application. */
  private record Instance(Fenceline client, Asked asked, AnnotationConfigApplicationContext context)
      implements AutoCloseable {

    static Instance start(MemorySpace space, ManualTime time, AtomicInteger runs) {
      Fenceline client = Fenceline.builder().store(space.factory()).time(time).connect();
      Asked asked = new Asked();
      var context = new AnnotationConfigApplicationContext();
      context.registerBean("fenceline", Fenceline.class, () -> client);
      context.registerBean(Asked.class, () -> asked);
      context.registerBean(Jobs.class, () -> new Jobs(runs));
      context.register(Enabled.class);
      context.refresh();
      return new Instance(client, asked, context);
    }

    /** Waits until the scheduler has called the method some times more. */
    void awaitCalls() {
      int before = asked.calls.get();
      Eventually.until(BOUND, "more calls", () -> asked.calls.get() > before + 3);
    }

    @Override
    public void close() {
      context.close();
      client.close();
    }
  }

  @Test
  void scheduledMethod_runsOnceInAFleet() {
    ManualTime time = new ManualTime();
    MemorySpace space = MemorySpace.create(time::wallMillis);
    AtomicInteger runs = new AtomicInteger();
    try (Instance one = Instance.start(space, time, runs);
        Instance two = Instance.start(space, time, runs)) {
      one.awaitCalls();
      two.awaitCalls();
      assertThat(runs).hasValue(1);

      time.advance(Duration.ofMinutes(11));

      one.awaitCalls();
      two.awaitCalls();
      assertThat(runs).hasValue(2);
    }
  }
}
