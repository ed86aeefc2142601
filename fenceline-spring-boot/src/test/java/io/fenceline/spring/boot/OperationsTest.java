package io.fenceline.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.FencelineBuilder;
import io.fenceline.FencingToken;
import io.fenceline.Hold;
import io.fenceline.fence.Fence;
import io.fenceline.fence.MemoryFence;
import io.fenceline.http.FencingTokenFilter;
import io.fenceline.http.FencingTokens;
import io.fenceline.spring.LockTemplate;
import io.fenceline.spring.Locked;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.client.ClientHttpRequest;
import org.springframework.mock.http.client.MockClientHttpRequest;
import org.springframework.mock.http.client.MockClientHttpResponse;
import org.springframework.mock.web.MockFilterChain;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.web.client.RestClient;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Mono;

/** What operators see of locks, and tokens over HTTP; the same on Boot 4 and 3.5. */
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

  // Tokens over HTTP. ---------------------------------------------------------------------------

  private static int answer(FencingTokenFilter filter, String path, String token) throws Exception {
    MockHttpServletRequest request = new MockHttpServletRequest("PUT", path);
    request.setServletPath(path);
    if (token != null) {
      request.addHeader(FencingTokens.HEADER, token);
    }
    MockHttpServletResponse response = new MockHttpServletResponse();
    filter.doFilter(request, response, new MockFilterChain());
    return response.getStatus();
  }

  @Test
  void filter_isThereByProperty_andChecksRoutesWithAFence() {
    Boot.web()
        .withPropertyValues(MEMORY)
        .run(context -> assertThat(context).doesNotHaveBean("fencingTokenFilter"));
    Boot.web()
        .withPropertyValues(MEMORY, "fenceline.http.filter.enabled=true")
        .run(
            context -> {
              FencingTokenFilter filter = filter(context.getBean("fencingTokenFilter"));
              assertThat(answer(filter, "/accounts/1", null)).isEqualTo(428);
              assertThat(answer(filter, "/accounts/1", "256")).isEqualTo(200);
              assertThat(answer(filter, "/accounts/1", "255")).as("not checked").isEqualTo(200);
            });
    Boot.web()
        .withPropertyValues(
            MEMORY,
            "fenceline.http.filter.enabled=true",
            "fenceline.http.filter.routes=/accounts/{id}")
        .withBean(Fence.class, MemoryFence::new)
        .run(
            context -> {
              FencingTokenFilter filter = filter(context.getBean("fencingTokenFilter"));
              assertThat(answer(filter, "/accounts/1", "256")).isEqualTo(200);
              assertThat(answer(filter, "/accounts/1", "255")).isEqualTo(409);
              assertThat(answer(filter, "/accounts/2", "255")).isEqualTo(200);
            });
  }

  @SuppressWarnings("unchecked")
  private static FencingTokenFilter filter(Object registration) {
    return ((FilterRegistrationBean<FencingTokenFilter>) registration).getFilter();
  }

  @Test
  void routesWithoutAFence_areAFailure() {
    Boot.web()
        .withPropertyValues(
            MEMORY,
            "fenceline.http.filter.enabled=true",
            "fenceline.http.filter.routes=/accounts/{id}")
        .run(
            context -> {
              FailureAnalysis analysis = Boot.analysis(context.getStartupFailure());
              assertThat(analysis.getDescription()).contains("declare one such bean");
            });
  }

  /** What a client would send; nothing is sent. */
  private static ClientHttpRequest record(URI uri, HttpMethod method, List<String> sent) {
    return new MockClientHttpRequest(method, uri) {
      @Override
      protected org.springframework.http.client.ClientHttpResponse executeInternal()
          throws IOException {
        sent.add(String.valueOf(getHeaders().getFirst(FencingTokens.HEADER)));
        return new MockClientHttpResponse(new byte[0], HttpStatus.OK);
      }
    };
  }

  @Test
  void clients_sendTheCurrentToken_ifItIsAsked() {
    Boot.alone()
        .withPropertyValues(MEMORY)
        .run(
            context ->
                assertThat(
                        sent(
                            context.getBean(RestClient.Builder.class),
                            context.getBean(LockTemplate.class),
                            new FencingToken[1]))
                    .containsExactly("null", "null"));
    Boot.alone()
        .withPropertyValues(MEMORY, "fenceline.http.client.enabled=true")
        .run(
            context -> {
              FencingToken[] token = new FencingToken[1];
              List<String> sent =
                  sent(
                      context.getBean(RestClient.Builder.class),
                      context.getBean(LockTemplate.class),
                      token);
              assertThat(sent).containsExactly("null", FencingTokens.format(token[0]));
            });
  }

  private static List<String> sent(
      RestClient.Builder builder, LockTemplate locks, FencingToken[] token)
      throws InterruptedException {
    List<String> sent = new ArrayList<>();
    RestClient client = builder.requestFactory((uri, method) -> record(uri, method, sent)).build();
    client.put().uri("http://x/1").retrieve().toBodilessEntity();
    locks.run(
        "http",
        hold -> {
          token[0] = hold.fencingToken();
          client.put().uri("http://x/1").retrieve().toBodilessEntity();
        });
    return sent;
  }

  static class Reactive {
    @Locked("web")
    public Mono<String> send(WebClient client, FencingToken token, List<String> tokens) {
      tokens.add(FencingTokens.format(token));
      return client.put().uri("http://x/1").retrieve().bodyToMono(String.class);
    }
  }

  @Test
  void webClient_sendsTheTokenOfItsSubscriber() {
    Boot.alone()
        .withPropertyValues(MEMORY, "fenceline.http.client.enabled=true")
        .withBean(Reactive.class)
        .run(
            context -> {
              List<String> sent = new ArrayList<>();
              WebClient client =
                  context
                      .getBean(WebClient.Builder.class)
                      .exchangeFunction(
                          request -> {
                            sent.add(request.headers().getFirst(FencingTokens.HEADER));
                            return Mono.just(ClientResponse.create(HttpStatus.OK).build());
                          })
                      .build();
              List<String> tokens = new ArrayList<>();
              context
                  .getBean(Reactive.class)
                  .send(client, null, tokens)
                  .block(java.time.Duration.ofSeconds(30));
              assertThat(sent).isEqualTo(tokens).hasSize(1);
            });
  }

  // Metadata and hints. -------------------------------------------------------------------------

  @Test
  void everyProperty_isDescribed() throws IOException {
    String json = "";
    for (URL url :
        Collections.list(
            getClass()
                .getClassLoader()
                .getResources("META-INF/spring-configuration-metadata.json"))) {
      try (var metadata = url.openStream()) {
        String found = new String(metadata.readAllBytes(), StandardCharsets.UTF_8);
        json = found.contains("fenceline.store") ? found : json;
      }
    }
    String properties = json.substring(json.indexOf("\"properties\""), json.indexOf("\"hints\""));
    String[] each = properties.split("\\{");
    assertThat(each).hasSizeGreaterThan(20);
    for (int i = 1; i < each.length; i++) {
      if (each[i].contains("\"name\"") && !each[i].contains("fenceline.groups\"")) {
        assertThat(each[i]).contains("\"description\"").doesNotContain("\"description\": \"The ");
      }
    }
  }

  @Test
  void hints_keepStatementsAndScripts() {
    RuntimeHints hints = new RuntimeHints();
    new FencelineRuntimeHints().registerHints(hints, getClass().getClassLoader());
    assertThat(hints)
        .matches(
            RuntimeHintsPredicates.resource()
                .forResource("io/fenceline/jdbc/sql/postgresql/claim.sql"))
        .matches(
            RuntimeHintsPredicates.resource().forResource("io/fenceline/redis/layout/renew.lua"))
        .matches(
            RuntimeHintsPredicates.reflection()
                .onType(io.fenceline.jdbc.connection.BoundedSockets.class));
  }
}
