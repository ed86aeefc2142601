package io.fenceline.spring.boot3;

import io.fenceline.Fenceline;
import io.fenceline.spring.boot.FencelineAutoConfiguration;
import io.fenceline.spring.boot.actuate.StoreProbe;
import java.util.Map;
import java.util.stream.Collectors;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.actuate.health.CompositeHealthContributor;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthContributor;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the health of the stores. In no group unless it is asked for: an instance
 * must not be ended because its locks have to wait.
 */
@AutoConfiguration(after = FencelineAutoConfiguration.class)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnBean(Fenceline.class)
@ConditionalOnEnabledHealthIndicator("fenceline")
public final class Boot3HealthAutoConfiguration {

  /** Called by Spring. */
  public Boot3HealthAutoConfiguration() {}

  @Bean
  @ConditionalOnMissingBean(name = {"fencelineHealthIndicator", "fencelineHealthContributor"})
  HealthContributor fencelineHealthContributor(Map<String, Fenceline> clients) {
    Map<String, HealthIndicator> all =
        clients.entrySet().stream()
            .collect(Collectors.toMap(Map.Entry::getKey, client -> indicator(client.getValue())));
    return all.size() == 1
        ? all.values().iterator().next()
        : CompositeHealthContributor.fromMap(all);
  }

  private static HealthIndicator indicator(Fenceline client) {
    StoreProbe probe = new StoreProbe(client);
    return () -> {
      try {
        return Health.up().withDetails(probe.ask()).build();
      } catch (RuntimeException e) {
        return Health.down(e).withDetails(probe.describe()).build();
      }
    };
  }
}
