package io.fenceline.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Sections of the page that come from runs of a part, each with the command that made it: a whole
 * run keeps them, and the same command replaces its own.
 */
final class Parts {
  private static final String BEGIN = "<!-- part of: %s -->\n";
  private static final String END = "\n<!-- end of part -->\n";
  private static final Pattern PART =
      Pattern.compile("<!-- part of: ([^\n]*) -->\n.*?" + Pattern.quote(END), Pattern.DOTALL);

  private Parts() {}

  /**
   * Returns the name of the file for the figures of a command, such as {@code redis-turns-2-8.json}
   * for {@code ./bench redis --works=turns --processes=2,8 --add}. All options are in it, so that
   * no part overwrites the figures of another one.
   */
  static String fileOf(String command) {
    return Stream.of(command.split(" "))
            .filter(word -> !word.equals("./bench") && !word.equals("--add"))
            .map(word -> word.substring(word.indexOf('=') + 1).replace("--", ""))
            .map(word -> word.replace(',', '-'))
            .collect(Collectors.joining("-"))
        + ".json";
  }

  /** Returns a page with the section of a command at its end, in the place of an older one. */
  static String add(String page, String command, String section) {
    StringBuilder result = new StringBuilder(PART.matcher(page).replaceAll("").stripTrailing());
    result.append("\n");
    Matcher old = PART.matcher(page);
    while (old.find()) {
      if (!old.group(1).equals(command)) {
        result.append("\n").append(old.group());
      }
    }
    return result
        .append("\n")
        .append(BEGIN.formatted(command))
        .append(section)
        .append(END)
        .toString();
  }

  /** Returns a page with the sections that an older one has. */
  static String keep(String older, String page) {
    List<String> kept = new ArrayList<>();
    Matcher part = PART.matcher(older);
    while (part.find()) {
      kept.add("\n" + part.group());
    }
    return page + String.join("", kept);
  }
}
