package io.fenceline.spring.boot.test;

import io.fenceline.Fenceline;
import io.fenceline.FencelineBuilder;
import io.fenceline.memory.MemorySpace;
import io.fenceline.testkit.ManualTime;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** A client of its own locks in its own time; the one of the auto-configuration steps back. */
@Configuration(proxyBeanMethods = false)
class TestFencelineConfiguration {

  @Bean
  ManualTime fencelineTime() {
    return new ManualTime();
  }

  @Bean
  MemorySpace fencelineSpace(ManualTime time) {
    return MemorySpace.create(time::wallMillis);
  }

  @Bean(destroyMethod = "close")
  @SuppressWarnings("MustBeClosedChecker") // By Spring.
  Fenceline fenceline(FencelineBuilder builder, MemorySpace space, ManualTime time) {
    return builder.store(space.factory()).time(time).connect();
  }
}
