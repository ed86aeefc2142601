package io.fenceline.spring.boot3;

import io.fenceline.http.FencingTokens;
import io.fenceline.spring.boot.FencelineAutoConfiguration;
import io.fenceline.spring.boot.http.FencingTokenClients;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.web.client.RestClientCustomizer;
import org.springframework.boot.web.reactive.function.client.WebClientCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Auto-configuration of HTTP clients that send the current fencing token, behind {@code
 * fenceline.http.client.enabled}.
 */
@AutoConfiguration(after = FencelineAutoConfiguration.class)
@ConditionalOnClass(FencingTokens.class)
@ConditionalOnProperty("fenceline.http.client.enabled")
public final class Boot3HttpClientAutoConfiguration {

  /** Called by Spring. */
  public Boot3HttpClientAutoConfiguration() {}

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(RestClientCustomizer.class)
  static class RestClients {
    @Bean
    RestClientCustomizer fencingTokenRestClientCustomizer() {
      return builder -> builder.requestInterceptor(FencingTokenClients.interceptor());
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(WebClientCustomizer.class)
  static class WebClients {
    @Bean
    WebClientCustomizer fencingTokenWebClientCustomizer() {
      return builder -> builder.filter(FencingTokenClients.exchangeFilter());
    }
  }
}
