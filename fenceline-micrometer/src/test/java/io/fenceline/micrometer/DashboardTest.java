package io.fenceline.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * The dashboard has the fields, types and ranges that Grafana's own schema of a dashboard
 * (kinds/dashboard/dashboard_kind.cue, lineage 0.0) asks for. The schema is written in CUE, for
 * which there is no validator here, and no Grafana can be installed: its rules for what we use are
 * written out below.
 */
class DashboardTest {
  private static final Set<String> FIELDS =
      Set.of(
          "__inputs",
          "annotations",
          "description",
          "editable",
          "fiscalYearStartMonth",
          "graphTooltip",
          "id",
          "links",
          "panels",
          "refresh",
          "schemaVersion",
          "tags",
          "templating",
          "time",
          "timepicker",
          "timezone",
          "title",
          "uid",
          "version",
          "weekStart");
  private static final Set<String> VARIABLE_TYPES =
      Set.of("query", "adhoc", "constant", "datasource", "interval", "textbox", "custom", "system");
  private static final Set<String> COLOUR_MODES =
      Set.of("thresholds", "palette-classic", "palette-saturated", "continuous-GrYlRd", "fixed");

  private static JsonNode dashboard() throws IOException {
    return new ObjectMapper().readTree(Observability.text("fenceline-dashboard.json"));
  }

  @Test
  void dashboard_hasTheSchemasFields() throws IOException {
    JsonNode dashboard = dashboard();
    dashboard.fieldNames().forEachRemaining(field -> assertThat(FIELDS).contains(field));
    assertThat(dashboard.get("id").isNull()).as("the importer gives the id").isTrue();
    assertThat(text(dashboard, "uid")).hasSizeBetween(8, 40);
    assertThat(text(dashboard, "title")).isNotBlank();
    assertThat(text(dashboard, "refresh")).matches("\\d+[smhd]");
    assertThat(text(dashboard, "timezone")).isIn("browser", "utc");
    assertThat(text(dashboard.get("time"), "from")).startsWith("now-");
    assertThat(text(dashboard.get("time"), "to")).isEqualTo("now");
    assertThat(dashboard.get("editable").isBoolean()).isTrue();
    assertThat(number(dashboard, "graphTooltip")).isBetween(0, 2);
    assertThat(number(dashboard, "fiscalYearStartMonth")).isBetween(0, 11);
    assertThat(number(dashboard, "schemaVersion")).isBetween(36, 65_535);
    assertThat(number(dashboard, "version")).isPositive();
    dashboard.get("tags").forEach(tag -> assertThat(tag.isTextual()).isTrue());
    for (String list : List.of("links", "tags", "panels")) {
      assertThat(dashboard.get(list).isArray()).as(list).isTrue();
    }
    for (JsonNode annotation : dashboard.get("annotations").get("list")) {
      assertThat(text(annotation, "name")).isNotBlank();
      assertThat(text(annotation, "iconColor")).isNotBlank();
      assertThat(annotation.get("enable").isBoolean()).isTrue();
      assertThat(annotation.get("datasource").isObject()).isTrue();
    }
  }

  @Test
  void everyPanel_hasTheSchemasFields_andThePlacesDoNotOverlap() throws IOException {
    Set<Integer> ids = new HashSet<>();
    Set<String> cells = new HashSet<>();
    JsonNode panels = dashboard().get("panels");
    assertThat(panels).hasSize(13);
    for (JsonNode panel : panels) {
      String title = text(panel, "title");
      assertThat(ids.add(number(panel, "id"))).as(title).isTrue();
      assertThat(text(panel, "type")).isIn("timeseries", "stat");
      assertThat(text(panel, "description")).isNotBlank();
      assertThat(panel.get("options").isObject()).as(title).isTrue();
      checkSource(panel);
      place(title, panel.get("gridPos"), cells);
      checkFields(title, panel.get("fieldConfig"));
      checkTargets(title, panel.get("targets"));
    }
  }

  private static void place(String title, JsonNode grid, Set<String> cells) {
    int x = number(grid, "x");
    int y = number(grid, "y");
    int width = number(grid, "w");
    int height = number(grid, "h");
    assertThat(width).as(title).isPositive();
    assertThat(height).as(title).isPositive();
    assertThat(x).as(title).isNotNegative();
    assertThat(y).as(title).isNotNegative();
    assertThat(x + width).as(title).isLessThanOrEqualTo(24);
    for (int column = x; column < x + width; column++) {
      for (int row = y; row < y + height; row++) {
        assertThat(cells.add(column + "," + row)).as("%s at %d,%d", title, column, row).isTrue();
      }
    }
  }

  private static void checkFields(String title, JsonNode config) {
    assertThat(config.get("overrides").isArray()).as(title).isTrue();
    JsonNode defaults = config.get("defaults");
    assertThat(defaults.isObject()).as(title).isTrue();
    JsonNode colour = defaults.path("color").path("mode");
    assertThat(colour.isMissingNode() || COLOUR_MODES.contains(colour.asText())).as(title).isTrue();
    JsonNode thresholds = defaults.get("thresholds");
    if (thresholds != null) {
      assertThat(text(thresholds, "mode")).isIn("absolute", "percentage");
      JsonNode steps = thresholds.get("steps");
      assertThat(steps.get(0).get("value").isNull()).as("%s: from the smallest", title).isTrue();
      for (int i = 0; i < steps.size(); i++) {
        assertThat(text(steps.get(i), "color")).isNotBlank();
        if (i > 1) {
          assertThat(steps.get(i).get("value").asDouble())
              .as(title)
              .isGreaterThan(steps.get(i - 1).get("value").asDouble());
        }
      }
    }
  }

  private static void checkTargets(String title, JsonNode targets) {
    Set<String> refs = new HashSet<>();
    assertThat(targets).as(title).isNotEmpty();
    for (JsonNode target : targets) {
      assertThat(refs.add(text(target, "refId"))).as(title).isTrue();
      assertThat(text(target, "expr")).as(title).isNotBlank();
      checkSource(target);
    }
  }

  @Test
  void everyVariable_hasTheSchemasFields_andIsUsed() throws IOException {
    JsonNode variables = dashboard().get("templating").get("list");
    String json = Observability.text("fenceline-dashboard.json");
    assertThat(variables)
        .extracting(v -> text(v, "name"))
        .containsExactly("datasource", "store", "group");
    for (JsonNode variable : variables) {
      String name = text(variable, "name");
      assertThat(VARIABLE_TYPES).contains(text(variable, "type"));
      assertThat(number(variable, "hide")).as(name).isBetween(0, 2);
      assertThat(variable.get("skipUrlSync").isBoolean()).as(name).isTrue();
      assertThat(variable.get("query").isTextual() || variable.get("query").isObject())
          .as(name)
          .isTrue();
      assertThat(json).containsAnyOf("$" + name, "${" + name + "}");
    }
  }

  @Test
  void everyAlert_isAboutAPanel() throws IOException {
    String json = Observability.text("fenceline-dashboard.json");
    for (String alert : Observability.alerts()) {
      boolean stat = Set.of("StaleWritesRefused", "LeakedLocks").contains(alert);
      assertThat(json).contains(stat ? "Fences, leaks, missed events" : alert + ":");
    }
  }

  /** The one that the reader of the dashboard chooses. */
  private static void checkSource(JsonNode node) {
    assertThat(text(node.get("datasource"), "type")).isEqualTo("prometheus");
    assertThat(text(node.get("datasource"), "uid")).isEqualTo("${datasource}");
  }

  private static String text(JsonNode node, String field) {
    assertThat(node.path(field).isTextual()).as("%s is text in %s", field, node).isTrue();
    return node.get(field).asText();
  }

  private static int number(JsonNode node, String field) {
    assertThat(node.path(field).isIntegralNumber())
        .as("%s is a number in %s", field, node)
        .isTrue();
    return node.get(field).asInt();
  }
}
