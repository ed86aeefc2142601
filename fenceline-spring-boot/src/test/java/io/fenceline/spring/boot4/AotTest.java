package io.fenceline.spring.boot4;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Hold;
import io.fenceline.spring.Locked;
import io.fenceline.spring.boot.FencelineAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;
import org.springframework.javapoet.ClassName;

/** An application whose beans were prepared ahead of time, on the JVM. */
@Timeout(600)
class AotTest {

  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration({AopAutoConfiguration.class, FencelineAutoConfiguration.class})
  public static class App {
    @Bean
    Orders orders() {
      return new Orders();
    }
  }

  public static class Orders {
    @Locked(name = "order:#{#id}", maxWait = "0s", fallback = "later")
    public String pay(long id, Hold hold) {
      return hold.name();
    }

    public String later(long id) {
      return "later";
    }
  }

  private static <C extends GenericApplicationContext> C with(C context) {
    TestPropertyValues.of("fenceline.store=memory:").applyTo(context);
    return context;
  }

  @Test
  @CompileWithForkedClassLoader
  void preparedApplication_locksItsMethods() {
    AnnotationConfigApplicationContext prepared = with(new AnnotationConfigApplicationContext());
    prepared.register(App.class);
    TestGenerationContext generated = new TestGenerationContext();
    ClassName initializer =
        new ApplicationContextAotGenerator().processAheadOfTime(prepared, generated);
    generated.writeGeneratedContent();
    TestCompiler.forSystem()
        .with(generated)
        .compile(
            compiled -> {
              GenericApplicationContext context = with(new GenericApplicationContext());
              initializer(
                      compiled.getInstance(
                          ApplicationContextInitializer.class, initializer.toString()))
                  .initialize(context);
              context.refresh();
              try (context) {
                assertThat(context.getBean(Orders.class).pay(7, null)).isEqualTo("order:7");
              }
            });
  }

  @SuppressWarnings("unchecked")
  private static ApplicationContextInitializer<GenericApplicationContext> initializer(
      ApplicationContextInitializer<?> any) {
    return (ApplicationContextInitializer<GenericApplicationContext>) any;
  }
}
