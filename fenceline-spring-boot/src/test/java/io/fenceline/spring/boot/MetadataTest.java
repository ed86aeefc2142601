package io.fenceline.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;

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
