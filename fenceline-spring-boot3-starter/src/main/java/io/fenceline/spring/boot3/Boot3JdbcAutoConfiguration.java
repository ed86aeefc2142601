package io.fenceline.spring.boot3;

import io.fenceline.spring.boot.FencelineJdbcAutoConfiguration;
import io.fenceline.spring.boot.JdbcDetails;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.JdbcConnectionDetails;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration that reads how the {@code DataSource} is connected, for connections of our
 * own.
 */
@AutoConfiguration(
    after = DataSourceAutoConfiguration.class,
    before = FencelineJdbcAutoConfiguration.class)
@ConditionalOnClass(JdbcConnectionDetails.class)
@ConditionalOnBean(JdbcConnectionDetails.class)
public final class Boot3JdbcAutoConfiguration {

  /** Called by Spring. */
  public Boot3JdbcAutoConfiguration() {}

  @Bean
  JdbcDetails fencelineJdbcDetails(JdbcConnectionDetails details) {
    return new JdbcDetails(
        details.getJdbcUrl(),
        details.getUsername(),
        details.getPassword(),
        details.getDriverClassName());
  }
}
