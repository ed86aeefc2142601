package io.fenceline.spring.boot4;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.spring.Locked;
import io.fenceline.spring.boot.Boot;
import io.fenceline.spring.boot.actuate.FencelineEndpoint;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.aot.AotDetector;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.AnnotationConfigUtils;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.core.SpringProperties;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;

/** An application whose beans were prepared ahead of time, on the JVM. */
@Timeout(600)
class AotTest {

  public static class Orders {
    @Locked(name = "order:#{#id}", maxWait = "0s", fallback = "later")
    public String pay(long id, Hold hold) {
      return hold.name();
    }

    public String later(long id) {
      return "later";
    }
  }

  /** As {@code java -Dspring.aot.enabled=true} does, with locks in a file. */
  @Test
  @CompileWithForkedClassLoader
  void applicationThatIsStartedWithAotEnabled_locksItsMethods(@TempDir Path folder) {
    String[] properties = {
      "fenceline.store=sqlite:" + folder.resolve("locks.db"),
      "spring.main.web-application-type=none",
      "management.endpoints.web.exposure.include=fenceline",
      "spring.autoconfigure.exclude=" + String.join(",", Boot.SERVERS)
    };
    AnnotationConfigApplicationContext prepared = new AnnotationConfigApplicationContext();
    TestPropertyValues.of(properties).applyTo(prepared);
    prepared.register(PreparedApplication.class);
    TestGenerationContext generated = new TestGenerationContext(PreparedApplication.class);
    new ApplicationContextAotGenerator().processAheadOfTime(prepared, generated);
    generated.writeGeneratedContent();
    assertThat(generated.getRuntimeHints())
        .matches(
            RuntimeHintsPredicates.resource()
                .forResource("io/fenceline/jdbc/sql/sqlite/claim.sql"));
    TestCompiler.forSystem().with(generated).compile(compiled -> run(properties));
  }

  private static void run(String[] properties) {
    // Of the class loader that this test has for itself: other tests do not see it.
    SpringProperties.setFlag(AotDetector.AOT_ENABLED);
    SpringApplication application = new SpringApplication(PreparedApplication.class);
    application.setMainApplicationClass(PreparedApplication.class);
    application.setBannerMode(Banner.Mode.OFF);
    String[] arguments = Stream.of(properties).map(each -> "--" + each).toArray(String[]::new);
    try (ConfigurableApplicationContext context = application.run(arguments)) {
      assertThat(
              context.containsBean(
                  AnnotationConfigUtils.CONFIGURATION_ANNOTATION_PROCESSOR_BEAN_NAME))
          .as("configuration classes are read at start, not ahead of time")
          .isFalse();
      assertThat(context.getBean(Fenceline.class).store()).startsWith("sqlite:");
      assertThat(context.getBean(Orders.class).pay(7, null)).isEqualTo("order:7");
      assertThat(context.getBean(FencelineEndpoint.class).clients(null)).hasSize(1);
      try (Hold held =
          context.getBean(Fenceline.class).lock("order:8").tryAcquire().orElseThrow()) {
        assertThat(context.getBean(Orders.class).pay(8, null)).isEqualTo("later");
        assertThat(held.isValid()).isTrue();
      }
    }
  }
}
