package io.fenceline.spring.boot.http;

import io.fenceline.FencingToken;
import io.fenceline.http.FencingTokens;
import io.fenceline.spring.LockedContext;
import io.fenceline.spring.ReactiveLockedContext;
import java.util.Optional;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.web.reactive.function.client.ClientRequest;
import org.springframework.web.reactive.function.client.ExchangeFilterFunction;
import reactor.core.publisher.Mono;

/**
 * Sends the current token with requests, where there is one and the request has none.
 *
 * <pre>{@code
 * RestClient accounts = builder.requestInterceptor(FencingTokenClients.interceptor()).build();
 * }</pre>
 */
public final class FencingTokenClients {

  private FencingTokenClients() {}

  /** For {@code RestClient} and {@code RestTemplate}: the token of {@link LockedContext}. */
  public static ClientHttpRequestInterceptor interceptor() {
    return (request, body, execution) -> {
      if (request.getHeaders().getFirst(FencingTokens.HEADER) == null) {
        LockedContext.findToken()
            .ifPresent(
                token ->
                    request.getHeaders().set(FencingTokens.HEADER, FencingTokens.format(token)));
      }
      return execution.execute(request, body);
    };
  }

  /** For {@code WebClient}: the token of the subscriber's context, else of the thread. */
  public static ExchangeFilterFunction exchangeFilter() {
    return (request, next) ->
        Mono.deferContextual(
            context -> {
              Optional<FencingToken> token =
                  ReactiveLockedContext.findToken(context).or(LockedContext::findToken);
              if (token.isEmpty() || request.headers().getFirst(FencingTokens.HEADER) != null) {
                return next.exchange(request);
              }
              String value = FencingTokens.format(token.get());
              return next.exchange(
                  ClientRequest.from(request).header(FencingTokens.HEADER, value).build());
            });
  }
}
