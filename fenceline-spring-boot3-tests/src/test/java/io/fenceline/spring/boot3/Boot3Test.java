package io.fenceline.spring.boot3;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.spring.boot.Boot;
import io.fenceline.spring.boot.JdbcDetails;
import io.fenceline.testbed.server.RedisServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthEndpointGroups;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.actuate.health.Status;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails;
import org.springframework.boot.autoconfigure.jdbc.JdbcConnectionDetails;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;

/** What Boot 3.5 has in packages of its own. */
@Timeout(600)
class Boot3Test {

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class App {}

  private static ApplicationContextRunner application() {
    return new ApplicationContextRunner()
        .withUserConfiguration(App.class)
        .withPropertyValues(
            "fenceline.store=memory:",
            "management.endpoint.health.probes.enabled=true",
            "spring.autoconfigure.exclude=" + String.join(",", Boot.PERSISTENCE));
  }

  @Test
  void version_isTheOneThatIsMeant() {
    assertThat(SpringBootVersion.getVersion()).startsWith("3.5.");
  }

  @Test
  void health_isThatOfTheStore() {
    application()
        .run(
            context -> {
              HealthIndicator indicator =
                  context.getBean("fencelineHealthContributor", HealthIndicator.class);
              Health up = indicator.health();
              assertThat(up.getStatus()).isEqualTo(Status.UP);
              assertThat(up.getDetails()).containsKeys("store", "latency");
              context.getBean(Fenceline.class).close();
              assertThat(indicator.health().getStatus()).isEqualTo(Status.DOWN);
            });
    application()
        .withPropertyValues("management.health.fenceline.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean("fencelineHealthContributor"));
  }

  /** db-scheduler#85: nobody wants a pod to be killed for it. */
  @Test
  void health_isInReadinessOnlyIfAsked_andNotInLiveness() {
    application()
        .run(
            context -> {
              HealthEndpointGroups groups = context.getBean(HealthEndpointGroups.class);
              assertThat(groups.get("liveness").isMember("fenceline")).isFalse();
              assertThat(groups.get("readiness").isMember("fenceline")).isFalse();
            });
    application()
        .withPropertyValues(
            "management.endpoint.health.group.readiness.include=readinessState,fenceline")
        .run(
            context -> {
              HealthEndpointGroups groups = context.getBean(HealthEndpointGroups.class);
              assertThat(groups.get("readiness").isMember("fenceline")).isTrue();
            });
  }

  /** As Docker Compose and {@code @ServiceConnection} provide them. */
  static class Details implements JdbcConnectionDetails {
    @Override
    public String getUsername() {
      return "sa";
    }

    @Override
    public String getPassword() {
      return "s3cret";
    }

    @Override
    public String getJdbcUrl() {
      return "jdbc:h2:mem:details";
    }
  }

  @Test
  void connectionDetails_areReadFromTheirBean() {
    application()
        .withBean(Details.class)
        .run(
            context -> {
              JdbcDetails details = context.getBean(JdbcDetails.class);
              assertThat(details.url()).isEqualTo("jdbc:h2:mem:details");
              assertThat(details.toString()).doesNotContain("s3cret");
            });
  }

  /** As Docker Compose and {@code @ServiceConnection} provide them; no property says where. */
  record RedisDetails(RedisServer server) implements RedisConnectionDetails {
    @Override
    public Standalone getStandalone() {
      return Standalone.of(server.host(), server.port());
    }
  }

  @Test
  void redis_isThatOfTheConnectionDetails() {
    try (RedisServer redis = RedisServer.start()) {
      new ApplicationContextRunner()
          .withUserConfiguration(App.class)
          .withPropertyValues(
              "fenceline.store=redis",
              "spring.autoconfigure.exclude=" + String.join(",", Boot.PERSISTENCE))
          .withBean(RedisConnectionDetails.class, () -> new RedisDetails(redis))
          .run(
              context ->
                  assertThat(context.getBean(Fenceline.class).store())
                      .contains(":" + redis.port()));
    }
  }
}
