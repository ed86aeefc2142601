package io.fenceline.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.testbed.server.PrometheusServer;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** The rules are sound, and each alert fires and keeps quiet when it should, by promtool. */
class RulesTest {

  @Test
  void rules_areSound() {
    String rules = Observability.file("fenceline-rules.yml").toString();
    assertThat(PrometheusServer.promtool("check", "rules", rules))
        .contains("SUCCESS: 10 rules found");
  }

  @Test
  void rules_doWhatTheirTestsSay_firingAndNot() throws IOException {
    String tests = Observability.file("fenceline-rules-test.yml").toString();
    assertThat(PrometheusServer.promtool("test", "rules", tests)).contains("SUCCESS");

    List<String> cases = Observability.text("fenceline-rules-test.yml").lines().toList();
    for (String alert : Observability.alerts()) {
      assertThat(cases).anyMatch(line -> line.startsWith("  - name: " + alert + " fires "));
      assertThat(cases).anyMatch(line -> line.startsWith("  - name: " + alert + " is quiet "));
    }
  }

  @Test
  void everyAlert_leadsToItsSectionOfTheRunbook() throws IOException {
    String rules = Observability.text("fenceline-rules.yml");
    for (String alert : Observability.alerts()) {
      int from = rules.indexOf("- alert: " + alert + "\n");
      int next = rules.indexOf("- alert: ", from + 1);
      assertThat(rules.substring(from, next < 0 ? rules.length() : next))
          .contains("runbook: docs/operations.md#" + alert.toLowerCase(Locale.ROOT) + "\n");
    }
  }

  @Test
  void everyAlert_hasASectionInTheRunbook_inBothLanguages() throws IOException {
    for (String page : List.of("../docs/operations.md", "../docs/operations.zh-TW.md")) {
      String text = Observability.text(page);
      for (String alert : Observability.alerts()) {
        assertThat(text).contains("\n### " + alert + "\n");
      }
    }
  }
}
