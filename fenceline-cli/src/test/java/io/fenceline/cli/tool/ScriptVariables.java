package io.fenceline.cli.tool;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The variables that the scripts around a command assign: the command must not see a trace of it.
 */
public final class ScriptVariables {
  private static final Pattern ASSIGNED =
      Pattern.compile("(?:^|[\\s;({])([A-Za-z_]\\w*)=|\\bread -r (\\w+)|\\bfor (\\w+) in");
  private static final Pattern MEANT = Pattern.compile("IFS|LC_ALL|FENCELINE_\\w*|_");

  private ScriptVariables() {}

  /** A value for each of them, as a user may have exported it. */
  public static Map<String, String> of(Path... scripts) throws IOException {
    Map<String, String> variables = new TreeMap<>();
    for (Path script : scripts) {
      for (String line : Files.readAllLines(script)) {
        Matcher assigned = ASSIGNED.matcher(line.strip().startsWith("#") ? "" : line);
        while (assigned.find()) {
          for (int i = 1; i <= assigned.groupCount(); i++) {
            String name = assigned.group(i);
            if (name != null && !MEANT.matcher(name).matches()) {
              variables.put(name, "the user's " + name);
            }
          }
        }
      }
    }
    return variables;
  }

  /** Those of the names that have another value in the output of {@code env}, or are missing. */
  public static List<String> changed(Map<String, String> variables, String env) {
    List<String> seen = env.lines().toList();
    return variables.entrySet().stream()
        .filter(v -> !isOurs(v.getKey()) && !seen.contains(v.getKey() + "=" + v.getValue()))
        .map(Map.Entry::getKey)
        .toList();
  }

  /** Lines about names that nobody else uses. */
  public static List<String> leaked(String env) {
    return env.lines().filter(ScriptVariables::isOurs).toList();
  }

  private static boolean isOurs(String name) {
    return name.startsWith("_fenceline_");
  }
}
