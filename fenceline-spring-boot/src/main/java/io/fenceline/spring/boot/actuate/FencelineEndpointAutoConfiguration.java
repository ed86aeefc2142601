package io.fenceline.spring.boot.actuate;

import io.fenceline.Fenceline;
import io.fenceline.spring.boot.FencelineAutoConfiguration;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Auto-configuration of the actuator endpoint {@code fenceline}. */
@AutoConfiguration(after = FencelineAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnBean(Fenceline.class)
@ConditionalOnAvailableEndpoint(FencelineEndpoint.class)
public final class FencelineEndpointAutoConfiguration {

  /** Called by Spring. */
  public FencelineEndpointAutoConfiguration() {}

  @Bean
  @ConditionalOnMissingBean
  FencelineEndpoint fencelineEndpoint(ListableBeanFactory beans) {
    return new FencelineEndpoint(() -> beans.getBeansOfType(Fenceline.class));
  }
}
