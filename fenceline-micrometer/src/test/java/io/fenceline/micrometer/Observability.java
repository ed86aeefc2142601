package io.fenceline.micrometer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The files that operators take from the repository. */
final class Observability {
  private Observability() {}

  static Path file(String name) {
    return Path.of("..", "observability", name).toAbsolutePath().normalize();
  }

  static String text(String name) throws IOException {
    return Files.readString(file(name));
  }

  /** The names of the alerts. */
  static List<String> alerts() throws IOException {
    return all(Pattern.compile("(?m)^ *- alert: (\\w+)$"), text("fenceline-rules.yml"));
  }

  /** The expressions of the dashboard, with its variables filled in. */
  static List<String> panelExpressions() throws IOException {
    List<String> found = new ArrayList<>();
    for (String written :
        all(Pattern.compile("(?m)^ *\"expr\": \"(.*)\",$"), text("fenceline-dashboard.json"))) {
      found.add(
          written
              .replace("\\\"", "\"")
              .replace("$__rate_interval", "1m")
              .replace("$__range", "1h")
              .replace("$store", ".*")
              .replace("$group", ".*"));
    }
    return found;
  }

  /** The rules, with windows of seconds and no patience, so that a test sees them fire. */
  static String hastyRules() throws IOException {
    return text("fenceline-rules.yml")
        .replaceAll("\\[(5|15)m\\]", "[10s]")
        .replaceAll("(?m)^( *for:) .*$", "$1 0s");
  }

  private static List<String> all(Pattern pattern, String text) {
    List<String> found = new ArrayList<>();
    for (Matcher matcher = pattern.matcher(text); matcher.find(); ) {
      found.add(matcher.group(1));
    }
    return found;
  }
}
