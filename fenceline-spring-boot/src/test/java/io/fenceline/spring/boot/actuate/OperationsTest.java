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
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.context.ConfigurableApplicationContext;
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

  private static HttpResponse<String> send(String method, int port, String path)
      throws IOException, InterruptedException {
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/actuator/" + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build(),
            HttpResponse.BodyHandlers.ofString());
  }

  /** A server on a port of its own, and not a handler that a test calls. */
  private static void serve(String access, Served test) throws Exception {
    SpringApplication application = new SpringApplication(Boot.App.class);
    try (ConfigurableApplicationContext context =
        application.run(
            "--server.port=0",
            "--server.address=127.0.0.1",
            "--spring.main.banner-mode=off",
            "--logging.level.root=warn",
            "--fenceline.store=memory:",
            "--management.endpoints.web.exposure.include=fenceline",
            "--management.endpoint.fenceline.access=" + access,
            "--spring.autoconfigure.exclude=" + String.join(",", Boot.SERVERS))) {
      int port = context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
      test.on(context.getBean(Fenceline.class), port);
    }
  }

  /** What is done with a server. */
  private interface Served {
    void on(Fenceline fenceline, int port) throws Exception;
  }

  @Test
  void endpointOverHttp_shows_andTakesAwayOnlyWithAccess() throws Exception {
    serve(
        "read-only",
        (fenceline, port) -> {
          try (Hold hold = fenceline.lock("jobs/nightly").tryAcquire().orElseThrow()) {
            HttpResponse<String> all = send("GET", port, "fenceline");
            assertThat(all.statusCode()).isEqualTo(200);
            assertThat(all.body())
                .contains("\"name\":\"jobs/nightly\"")
                .contains("\"guarantees\"")
                .contains("\"findings\"");
            assertThat(send("GET", port, "fenceline?prefix=other").body())
                .doesNotContain("jobs/nightly");
            assertThat(send("GET", port, "fenceline/jobs/nightly").body())
                .contains("\"token\":\"" + hold.token() + "\"");
            assertThat(
                    send("DELETE", port, "fenceline/jobs/nightly?token=" + hold.token())
                        .statusCode())
                .as("no one may take a lock away unless it was said")
                .isIn(404, 405);
            assertThat(fenceline.inspect("jobs/nightly").isFree()).isFalse();
          }
        });
    serve(
        "unrestricted",
        (fenceline, port) -> {
          Hold hold = fenceline.lock("jobs/nightly").tryAcquire().orElseThrow();
          assertThat(send("DELETE", port, "fenceline/jobs/nightly").statusCode())
              .as("without a token")
              .isEqualTo(400);
          assertThat(send("DELETE", port, "fenceline/jobs/nightly?token=256").body())
              .contains("\"released\":false");
          assertThat(send("DELETE", port, "fenceline/jobs/nightly?token=" + hold.token()).body())
              .contains("\"released\":true");
          assertThat(fenceline.inspect("jobs/nightly").isFree()).isTrue();
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
