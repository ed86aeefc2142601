package io.fenceline.spring.boot;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.runner.AbstractApplicationContextRunner;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.support.SpringFactoriesLoader;

/**
 * Applications with all that Boot and Fenceline configure by themselves; the same for Boot 4 and
 * 3.5, since these tests run on both.
 */
public final class Boot {
  private static final String[] DATA_SOURCE = {
    "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
    "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration"
  };
  private static final String[] REDIS = {
    "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
    "org.springframework.boot.data.redis.autoconfigure.DataRedisReactiveAutoConfiguration",
    "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
    "org.springframework.boot.autoconfigure.data.redis.RedisReactiveAutoConfiguration"
  };

  private static final String[] JPA = {
    "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
    "org.springframework.boot.autoconfigure.orm.jpa.HibernateJpaAutoConfiguration"
  };

  /** All that connects an application to a server; JPA, because it costs each start a second. */
  public static final List<String> SERVERS =
      Stream.of(DATA_SOURCE, REDIS, JPA).flatMap(Stream::of).toList();

  /** What connects to JPA. */
  public static final List<String> PERSISTENCE = List.of(JPA);

  private Boot() {}

  /** An application without anything of its own. */
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  public static class App {}

  /** An application that is connected to nothing. */
  public static ApplicationContextRunner alone() {
    return without(new ApplicationContextRunner(), DATA_SOURCE, REDIS, JPA);
  }

  /** A web application that is connected to nothing. */
  public static WebApplicationContextRunner web() {
    return without(new WebApplicationContextRunner(), DATA_SOURCE, REDIS, JPA);
  }

  /** An application with a {@code DataSource}. */
  public static ApplicationContextRunner withDataSource() {
    return without(new ApplicationContextRunner(), REDIS, JPA);
  }

  /** An application with a {@code DataSource} and JPA. */
  public static ApplicationContextRunner withJpa() {
    return without(new ApplicationContextRunner(), REDIS);
  }

  /** An application with a connection to Redis. */
  public static ApplicationContextRunner withRedis() {
    return without(new ApplicationContextRunner(), DATA_SOURCE, JPA);
  }

  /** An application with both. */
  public static ApplicationContextRunner withBoth() {
    return without(new ApplicationContextRunner(), JPA);
  }

  private static <R extends AbstractApplicationContextRunner<R, ?, ?>> R without(
      R runner, String[]... parts) {
    List<String> excluded = new ArrayList<>();
    for (String[] part : parts) {
      excluded.addAll(List.of(part));
    }
    return runner
        .withUserConfiguration(App.class)
        .withPropertyValues(
            "spring.autoconfigure.exclude=" + String.join(",", excluded),
            "spring.application.name=shop");
  }

  /** What an operator reads when the application does not start. */
  public static FailureAnalysis analysis(Throwable failure) {
    for (FailureAnalyzer analyzer :
        SpringFactoriesLoader.forDefaultResourceLocation(Boot.class.getClassLoader())
            .load(
                FailureAnalyzer.class,
                SpringFactoriesLoader.FailureHandler.handleMessage((a, b) -> {}))) {
      if (analyzer.getClass().getName().startsWith("io.fenceline.")) {
        FailureAnalysis analysis = analyzer.analyze(failure);
        if (analysis != null) {
          return analysis;
        }
      }
    }
    throw new AssertionError("no analysis", failure);
  }
}
