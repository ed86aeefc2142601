package io.fenceline.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The dashboard is what Grafana's importer asks of a classic dashboard, as far as that can be had
 * without a Grafana: there is none to be installed here.
 */
class DashboardTest {

  @Test
  void everyPanel_hasAnIdATitleAPlaceAndTheChosenDataSource() throws IOException {
    String json = Observability.text("fenceline-dashboard.json");
    assertThat(json).contains("\"schemaVersion\": 39", "\"uid\": \"fenceline-locks\"");
    List<String> sources = found("\"uid\": \"(\\$[^\"]*)\"", json);
    assertThat(sources).isNotEmpty().containsOnly("${datasource}");
    Set<String> ids = new HashSet<>(found("(?m)^ {6}\"id\": (\\d+),$", json));
    assertThat(ids).hasSameSizeAs(found("(?m)^ {6}\"title\": \"(.+)\",$", json)).hasSize(13);
    assertThat(found("(?m)^ {6}\"gridPos\": (\\{)$", json)).hasSize(13);
    assertThat(found("(?m)^ {8}\"name\": \"(\\w+)\",$", json))
        .containsExactly("datasource", "store", "group");
  }

  @Test
  void everyAlert_isAboutAPanel() throws IOException {
    String json = Observability.text("fenceline-dashboard.json");
    for (String alert : Observability.alerts()) {
      boolean stat = Set.of("StaleWritesRefused", "LeakedLocks").contains(alert);
      assertThat(json).contains(stat ? "Fences, leaks, missed events" : alert + ":");
    }
  }

  private static List<String> found(String pattern, String text) {
    return Pattern.compile(pattern).matcher(text).results().map(DashboardTest::one).toList();
  }

  private static String one(MatchResult result) {
    return result.group(1);
  }
}
