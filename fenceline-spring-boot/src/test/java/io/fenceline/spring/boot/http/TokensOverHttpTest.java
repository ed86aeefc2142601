package io.fenceline.spring.boot.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.FencingToken;
import io.fenceline.fence.Fence;
import io.fenceline.fence.MemoryFence;
import io.fenceline.http.FencingTokenFilter;
import io.fenceline.http.FencingTokens;
import io.fenceline.spring.LockTemplate;
import io.fenceline.spring.Locked;
import io.fenceline.spring.boot.Boot;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
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

/** Tokens over HTTP; the same on Boot 4 and 3.5. */
@Timeout(600)
class TokensOverHttpTest {

  private static final String MEMORY = "fenceline.store=memory:";

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
}
