package io.fenceline.spring.boot.actuate;

import io.fenceline.Fenceline;
import io.fenceline.micrometer.FencelineMetrics;
import io.fenceline.micrometer.FencelineObservations;
import io.fenceline.spring.boot.FencelineAutoConfiguration;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/** Auto-configuration of meters and observations for all clients, before the first lock is used. */
@AutoConfiguration(
    after = FencelineAutoConfiguration.class,
    afterName = {
      "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
      "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration",
      "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
      "org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration"
    })
@ConditionalOnClass({FencelineMetrics.class, MeterRegistry.class})
@ConditionalOnBean(Fenceline.class)
public final class FencelineMetricsAutoConfiguration {

  /** Called by Spring. */
  public FencelineMetricsAutoConfiguration() {}

  @Bean
  static MeterFilter fencelineBuckets() {
    return FencelineMetrics.buckets();
  }

  @Bean
  SmartInitializingSingleton fencelineMetricsBinder(
      ListableBeanFactory beans,
      ObjectProvider<MeterRegistry> meters,
      ObjectProvider<ObservationRegistry> observations) {
    return () ->
        beans
            .getBeansOfType(Fenceline.class)
            .values()
            .forEach(
                client -> {
                  meters.ifUnique(registry -> FencelineMetrics.bind(client, registry));
                  observations.ifUnique(registry -> FencelineObservations.bind(client, registry));
                });
  }
}
