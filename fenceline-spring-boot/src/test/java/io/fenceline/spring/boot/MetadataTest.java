package io.fenceline.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.jdbc.connection.BoundedSockets;
import io.fenceline.spi.StoreProvider;
import io.lettuce.core.resource.ClientResources;
import java.io.IOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

/** What editors and native images are told. */
@Timeout(600)
class MetadataTest {

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
      if (each[i].contains("\"name\"")) {
        assertThat(each[i]).contains("\"description\"").doesNotContain("\"description\": \"The ");
      }
    }
  }

  private static RuntimeHints hints() {
    RuntimeHints hints = new RuntimeHints();
    new FencelineRuntimeHints().registerHints(hints, MetadataTest.class.getClassLoader());
    return hints;
  }

  /** Every resource of ours on the class path, not a few that someone thought of. */
  @Test
  void hints_keepEveryStatementAndScript() throws IOException {
    List<String> paths = new ArrayList<>();
    for (Resource resource :
        new PathMatchingResourcePatternResolver().getResources("classpath*:io/fenceline/**/*.*")) {
      String url = resource.getURL().toString();
      if (!url.endsWith(".class") && !url.contains("test-classes")) {
        paths.add(url.substring(url.lastIndexOf("io/fenceline/")));
      }
    }
    assertThat(paths)
        .anyMatch(path -> path.endsWith(".sql"))
        .anyMatch(path -> path.endsWith(".lua"));
    RuntimeHints hints = hints();
    assertThat(paths)
        .allMatch(path -> RuntimeHintsPredicates.resource().forResource(path).test(hints));
    assertThat(hints)
        .matches(
            RuntimeHintsPredicates.resource()
                .forResource("META-INF/services/" + StoreProvider.class.getName()));
  }

  @Test
  void hints_keepWhatIsMadeByName() {
    RuntimeHints hints = hints();
    List<Class<?>> providers = new ArrayList<>();
    ServiceLoader.load(StoreProvider.class).forEach(each -> providers.add(each.getClass()));
    assertThat(providers)
        .hasSizeGreaterThan(2)
        .allMatch(type -> RuntimeHintsPredicates.reflection().onType(type).test(hints));
    assertThat(hints)
        .matches(RuntimeHintsPredicates.reflection().onType(BoundedSockets.class))
        .matches(RuntimeHintsPredicates.proxies().forInterfaces(ClientResources.class));
  }
}
