package io.fenceline.spring.boot;

import com.zaxxer.hikari.HikariDataSource;
import io.fenceline.jdbc.JdbcStores;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;

/** Auto-configuration of locks in the application's {@code DataSource}. */
@AutoConfiguration(
    before = FencelineAutoConfiguration.class,
    afterName = {
      "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
      "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration"
    })
@ConditionalOnClass({JdbcStores.class, DataSource.class, HikariDataSource.class})
@ConditionalOnBean(DataSource.class)
public final class FencelineJdbcAutoConfiguration {

  /** Called by Spring. */
  public FencelineJdbcAutoConfiguration() {}

  @Bean
  @Order(0)
  DataSourceStoreSource fencelineDataSourceStore(
      FencelineProperties properties,
      ListableBeanFactory beans,
      @FencelineDataSource ObjectProvider<DataSource> marked,
      ObjectProvider<DataSource> any,
      ObjectProvider<JdbcDetails> details) {
    return new DataSourceStoreSource(
        properties.jdbc(),
        List.of(beans.getBeanNamesForType(DataSource.class)),
        () -> {
          DataSource one = marked.getIfUnique();
          return one != null ? one : any.getIfUnique();
        },
        details::getIfAvailable);
  }
}
