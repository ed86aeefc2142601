package io.fenceline.spring.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.FencelineBuilder;
import io.fenceline.Hold;
import io.fenceline.spring.Locked;
import io.fenceline.spring.boot.Boot;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What operators see of locks; the same on Boot 4 and 3.5. */
@Timeout(600)
class OperationsTest {

  private static final String MEMORY = "fenceline.store=memory:";

  // The endpoint. -------------------------------------------------------------------------------

  @Test
  void endpoint_isReadOnly_unlessAccessIsGiven() {
    Endpoint declared = FencelineEndpoint.class.getAnnotation(Endpoint.class);
    assertThat(declared.defaultAccess()).isEqualTo(Access.READ_ONLY);
    Boot.alone()
        .withPropertyValues(MEMORY)
        .run(context -> assertThat(context).doesNotHaveBean(FencelineEndpoint.class));
  }

  @Test
  void endpoint_showsLocks_andTakesOneAwayByItsToken() {
    Boot.alone()
        .withPropertyValues(
            "fenceline.store=memory:endpoint",
            "management.endpoints.web.exposure.include=fenceline")
        .run(
            context -> {
              Fenceline fenceline = context.getBean(Fenceline.class);
              FencelineEndpoint endpoint = context.getBean(FencelineEndpoint.class);
              Hold hold = fenceline.lock("a/b").tryAcquire().orElseThrow();

              FencelineEndpoint.ClientReport report = endpoint.clients(null).get("fenceline");
              assertThat(report.locks()).hasSize(1);
              assertThat(report.locks().get(0).holders().get(0).token())
                  .isEqualTo(Long.toString(hold.token() >> 8 << 8));
              assertThat(report.guarantees().given()).contains("FAIR");
              assertThat(endpoint.clients("z").get("fenceline").locks()).isEmpty();

              String[] path = {"a", "b"};
              assertThat(endpoint.lock(path).get("fenceline").holders()).hasSize(1);
              assertThat(endpoint.release(path, 1 << 8, null))
                  .isEqualTo(Map.of("lock", "a/b", "released", false));
              assertThat(endpoint.release(path, hold.token(), null))
                  .isEqualTo(Map.of("lock", "a/b", "released", true));
              assertThat(fenceline.inspect("a/b").isFree()).isTrue();
              hold.close();
            });
  }

  @Configuration(proxyBeanMethods = false)
  static class TwoClients {
    @Bean
    Fenceline one(FencelineBuilder builder) {
      return builder.store("memory:one").connect();
    }

    @Bean
    Fenceline two(FencelineBuilder builder) {
      return builder.store("memory:two").connect();
    }
  }

  @Test
  void endpoint_ofSeveralClients_wantsToKnowWhich() {
    Boot.alone()
        .withUserConfiguration(TwoClients.class)
        .withPropertyValues("management.endpoints.web.exposure.include=*")
        .run(
            context -> {
              FencelineEndpoint endpoint = context.getBean(FencelineEndpoint.class);
              assertThat(endpoint.clients(null)).containsOnlyKeys("one", "two");
              String[] path = {"x"};
              assertThatThrownBy(() -> endpoint.release(path, 1, null))
                  .hasMessageContaining("[one, two]");
              assertThat(endpoint.release(path, 256, "two")).containsEntry("released", false);
            });
  }

  // Meters. -------------------------------------------------------------------------------------

  static class Work {
    @Locked("order:#{#id}")
    public void pay(long id) {}
  }

  @Test
  void metersAndObservations_areBound() {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    List<String> observed = new ArrayList<>();
    ObservationRegistry observations = ObservationRegistry.create();
    observations
        .observationConfig()
        .observationHandler(
            new io.micrometer.observation.ObservationHandler<>() {
              @Override
              public void onStop(io.micrometer.observation.Observation.Context context) {
                observed.add(context.getName());
              }

              @Override
              public boolean supportsContext(
                  io.micrometer.observation.Observation.Context context) {
                return true;
              }
            });
    Boot.alone()
        .withPropertyValues(MEMORY)
        .withBean(SimpleMeterRegistry.class, () -> meters)
        .withBean(ObservationRegistry.class, () -> observations)
        .withBean(Work.class)
        .run(
            context -> {
              context.getBean(Work.class).pay(1);
              assertThat(meters.get("fenceline.acquire").tag("outcome", "granted").timer().count())
                  .isEqualTo(1);
              assertThat(observed).contains("fenceline.acquire", "fenceline.hold");
            });
  }
}
