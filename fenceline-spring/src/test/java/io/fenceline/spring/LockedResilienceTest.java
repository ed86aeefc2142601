package io.fenceline.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.FencingToken;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.Configuration;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;

/** Spring 7's retries are outside of the lock: each attempt acquires it anew. */
@Timeout(300)
class LockedResilienceTest {

  @Configuration(proxyBeanMethods = false)
  @EnableLocked(proxyTargetClass = true)
  @EnableResilientMethods(proxyTargetClass = true)
  static class Enabled {}

  static class Work {
    private final List<FencingToken> tokens = new ArrayList<>();

    @Retryable(maxRetries = 2, delay = 1)
    @Locked("retried")
    public List<FencingToken> run(FencingToken token) {
      tokens.add(token);
      if (tokens.size() < 3) {
        throw new IllegalStateException("not yet");
      }
      return tokens;
    }
  }

  @Test
  void eachAttempt_hasALockAndATokenOfItsOwn() {
    try (Application application = Application.startEnabledBy(Enabled.class, Work.class)) {
      assertThat(application.bean(Work.class).run(null)).hasSize(3).doesNotHaveDuplicates();
    }
  }
}
