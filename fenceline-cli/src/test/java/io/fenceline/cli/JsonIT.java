package io.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import io.fenceline.cli.tool.Tool;
import io.fenceline.cli.tool.Tool.Call;
import io.fenceline.cli.tool.Tool.Result;
import io.fenceline.testkit.Eventually;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What programs read: every {@code --json} is as docs/cli.schema.json says. */
class JsonIT {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  @TempDir Path folder;
  private Tool tool;

  @BeforeEach
  void start() {
    tool = new Tool(folder);
  }

  @AfterEach
  void stop() {
    tool.close();
  }

  /** Checks against the part of the schema for one subcommand. */
  private static JsonNode valid(String subcommand, String json) throws Exception {
    Path file = Path.of(System.getProperty("fenceline.root")).resolve("docs/cli.schema.json");
    com.fasterxml.jackson.databind.node.ObjectNode root =
        (com.fasterxml.jackson.databind.node.ObjectNode) MAPPER.readTree(Files.readString(file));
    root.put("$ref", "#/$defs/" + subcommand);
    assertThat(root.at("/$defs/" + subcommand).isObject()).isTrue();
    JsonSchema schema =
        JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012).getSchema(root);
    JsonNode node = MAPPER.readTree(json);
    assertThat(schema.validate(node)).as(json).isEmpty();
    return node;
  }

  @Test
  void holdersAndWaiters() throws Exception {
    Call holder =
        tool.start("run", "team/a \"b\" \u5eab", "-c", "echo $FENCELINE_TOKEN; exec sleep 100");
    String token = holder.firstLine().strip();
    Call waiter = tool.start("run", "team/a \"b\" \u5eab", "--", "true");
    JsonNode listed =
        Eventually.until(
            Tool.PATIENCE,
            "the waiter to queue",
            () -> valid("ls", tool.runInOneJvm("ls", "team/", "--json").out()),
            node -> node.at("/locks/0/waiters/0/pid").asLong() == waiter.process.pid());

    assertThat(listed.at("/complete").asBoolean()).isTrue();
    assertThat(listed.at("/locks")).hasSize(1);
    assertThat(listed.at("/locks/0/name").asText()).isEqualTo("team/a \"b\" \u5eab");
    assertThat(listed.at("/locks/0/holders/0/token").asText()).isEqualTo(token);
    assertThat(listed.at("/locks/0/holders/0/pid").asLong()).isEqualTo(holder.process.pid());
    assertThat(valid("ls", tool.runInOneJvm("ls", "other", "--json").out()).at("/locks")).isEmpty();

    JsonNode shown = valid("show", tool.runInOneJvm("show", "team/a \"b\" \u5eab", "--json").out());
    assertThat(shown.at("/lock/holders/0/mode").asText()).isEqualTo("exclusive");
    assertThat(tool.runInOneJvm("ls").out().lines().toList().get(1)).contains(token).endsWith(" 1");

    Result watched = tool.runInOneJvm("watch", "--json", "--count", "2", "-i", "100ms");
    for (String line : watched.out().lines().toList()) {
      assertThat(valid("ls", line).has("at")).isTrue();
    }
    assertThat(watched.out().lines()).hasSize(2);
    assertThat(tool.runInOneJvm("watch", "--count", "1").out())
        .contains("held by")
        .contains("1 waiting");

    Result wrong =
        tool.runInOneJvm("release", "team/a \"b\" \u5eab", "--token", "99999", "--yes", "--json");
    assertThat(wrong.code()).isEqualTo(1);
    assertThat(valid("release", wrong.out()).at("/released").asBoolean()).isFalse();
    Result right =
        tool.runInOneJvm("release", "team/a \"b\" \u5eab", "--token", token, "-y", "--json");
    assertThat(right.code()).isZero();
    assertThat(valid("release", right.out()).at("/holder").asText()).isNotEmpty();

    assertThat(waiter.await().code()).isZero();
    holder.process.destroy();
    holder.await();
  }

  @Test
  void doctorAndStores() throws Exception {
    Result well = tool.runInOneJvm("doctor", "--json");
    assertThat(well.code()).isZero();
    JsonNode findings = valid("doctor", well.out());
    assertThat(findings.at("/serious").asBoolean()).isFalse();
    assertThat(findings.at("/findings").findValuesAsText("check"))
        .contains("reachable", "permissions", "latency", "guarantees", "clock", "machine");

    Result slow = tool.runInOneJvm("doctor", "--json", "--lease", "1ms");
    assertThat(slow.code()).isEqualTo(1);
    assertThat(valid("doctor", slow.out()).at("/serious").asBoolean()).isTrue();

    Result down = tool.runInOneJvm("doctor", "--json", "--store", "sqlite:/proc/none/locks.db");
    assertThat(down.code()).isEqualTo(1);
    assertThat(valid("doctor", down.out()).at("/findings/0/severity").asText())
        .isEqualTo("serious");

    JsonNode stores = valid("stores", tool.runInOneJvm("stores", "--json").out());
    assertThat(stores.at("/stores").findValuesAsText("store")).contains("memory");
  }

  @Test
  void theSchemaNoticesAMissingField() {
    assertThat(org.assertj.core.api.Assertions.catchThrowable(() -> valid("ls", "{\"locks\": []}")))
        .isInstanceOf(AssertionError.class);
  }
}
