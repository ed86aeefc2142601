package io.fenceline.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.settings.InvalidSettingException;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

/** A method that runs on another thread is locked there. */
@Timeout(300)
class LockedAsyncTest {
  private static final Duration BOUND = Duration.ofSeconds(30);

  @Configuration(proxyBeanMethods = false)
  @EnableLocked(proxyTargetClass = true)
  @EnableAsync(proxyTargetClass = true)
  static class Enabled {}

  static class Work {
    @Async
    @Locked("work")
    public void run(CountDownLatch go) throws InterruptedException {
      LockedContext.assertHeld("work");
      assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
    }

    @Async
    @Locked("later")
    public CompletableFuture<Long> later(CompletableFuture<Long> until) {
      return until;
    }
  }

  /** alturkovic/distributed-lock#14: the lock was outside of {@code @Async}. */
  @Test
  void asynchronousMethod_holdsTheLockWhileItRuns() throws InterruptedException {
    try (Application application = Application.startEnabledBy(Enabled.class, Work.class)) {
      CountDownLatch go = new CountDownLatch(1);
      application.bean(Work.class).run(go);
      Eventually.until(BOUND, "it runs", () -> !application.isFree("work"));
      go.countDown();
      Eventually.until(BOUND, "it has ended", () -> application.isFree("work"));
    }
  }

  @Test
  void asynchronousStage_holdsTheLockUntilItCompletes() {
    try (Application application = Application.startEnabledBy(Enabled.class, Work.class)) {
      CompletableFuture<Long> until = new CompletableFuture<>();
      CompletableFuture<Long> result = application.bean(Work.class).later(until);
      Eventually.until(BOUND, "it runs", () -> !application.isFree("later"));
      until.complete(1L);
      assertThat(result.join()).isEqualTo(1L);
      Eventually.until(BOUND, "it has ended", () -> application.isFree("later"));
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAsync(proxyTargetClass = true, order = Ordered.HIGHEST_PRECEDENCE)
  @EnableLocked(proxyTargetClass = true)
  static class AsyncFirst {}

  /** alturkovic/distributed-lock#14, made on purpose: a proxy of its own inside of the lock's. */
  @Test
  void asyncInsideOfTheLock_failsTheStart() {
    assertThatThrownBy(() -> Application.startEnabledBy(AsyncFirst.class, Work.class).close())
        .rootCause()
        .isInstanceOf(InvalidSettingException.class)
        .hasMessageContaining("@Async is inside of the lock");
  }
}
