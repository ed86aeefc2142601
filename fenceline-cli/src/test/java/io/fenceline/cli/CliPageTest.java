package io.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import io.fenceline.cli.failure.ExitCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The examples of docs/cli.md that the build can't run: cron, systemd, Kubernetes and others. */
class CliPageTest {
  private static final Pattern BLOCK = Pattern.compile("(?s)```(crontab|ini|yaml)\n(.*?)```");
  private static final Pattern CALL = Pattern.compile("(?:/usr/bin/)?fenceline ((?!.*=)\\S.*)");

  private static String page() throws Exception {
    return Files.readString(Path.of("../docs/cli.md"));
  }

  /** The calls of the tool in a block, as words. */
  private static List<List<String>> calls(String language, String text) throws Exception {
    List<List<String>> calls = new ArrayList<>();
    if (language.equals("yaml")) {
      for (JsonNode list :
          new ObjectMapper(new YAMLFactory()).readTree(text).findValues("command")) {
        List<String> words = new ArrayList<>();
        list.forEach(word -> words.add(word.asText()));
        if (words.remove("fenceline")) {
          calls.add(words);
        }
      }
    }
    for (String line : text.lines().toList()) {
      CALL.matcher(line)
          .results()
          .map(found -> List.of(found.group(1).split(" ")))
          .forEach(calls::add);
    }
    return calls;
  }

  @Test
  void everyExampleIsUnderstood() throws Exception {
    int understood = 0;
    for (MatchResult block : BLOCK.matcher(page()).results().toList()) {
      for (List<String> words : calls(block.group(1), block.group(2))) {
        Subcommand subcommand = Subcommands.named(words.get(0));
        assertThat(subcommand).as(words.toString()).isNotNull();
        int dashes = words.indexOf("--");
        assertThat(dashes).as(words.toString()).isPositive();
        // Throws if an option is unknown, or a value does not fit.
        CommandLine line = Subcommands.line(words.get(0), subcommand);
        line.parseArgs(words.subList(1, dashes).toArray(String[]::new));
        assertThat(words.subList(dashes + 1, words.size())).isNotEmpty();
        understood++;
      }
    }
    assertThat(understood).isEqualTo(7);
  }

  @Test
  void everyCommandAndExitCode_isOnThePage() throws Exception {
    String page = page();
    for (String name : Subcommands.NAMES) {
      assertThat(page).contains("| `fenceline " + name);
    }
    for (var field : ExitCode.class.getFields()) {
      int code = field.getInt(null);
      String row = code == ExitCode.SIGNAL_BASE ? "\n| 128 + n |" : "\n| " + code + " |";
      assertThat(page).as(field.getName()).contains(row);
    }
  }
}
