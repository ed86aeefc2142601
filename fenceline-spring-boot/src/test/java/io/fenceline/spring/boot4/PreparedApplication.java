package io.fenceline.spring.boot4;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * An application for {@link AotTest}; no class inside it, since Boot goes by the name of the class.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class PreparedApplication {
  @Bean
  AotTest.Orders orders() {
    return new AotTest.Orders();
  }
}
