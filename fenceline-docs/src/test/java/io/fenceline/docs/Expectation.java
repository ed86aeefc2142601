package io.fenceline.docs;

import java.util.List;

/**
 * What a page says that a command prints. Tokens, times, processes and folders of the reader are
 * patterns; the width of columns does not count; a line {@code …} stands for any number of lines.
 */
final class Expectation {
  private Expectation() {}

  static boolean matches(String expected, String printed) {
    return matches(plain(expected), plain(printed));
  }

  private static boolean matches(List<String> expected, List<String> printed) {
    if (expected.isEmpty()) {
      return printed.isEmpty();
    }
    if (expected.get(0).equals("…")) {
      List<String> rest = expected.subList(1, expected.size());
      for (int i = 0; i <= printed.size(); i++) {
        if (matches(rest, printed.subList(i, printed.size()))) {
          return true;
        }
      }
      return false;
    }
    return !printed.isEmpty()
        && expected.get(0).equals(printed.get(0))
        && matches(expected.subList(1, expected.size()), printed.subList(1, printed.size()));
  }

  /** Lines with what differs from call to call replaced by what it is. */
  static List<String> plain(String text) {
    return text.strip().lines().map(Expectation::plainLine).toList();
  }

  private static String plainLine(String line) {
    return line
        // The shelves of the demo: who sells when is chance.
        .replaceAll("^ +(Ann|Bob|Cyd|Dan)( +[.#x])+$", "$1 ROW")
        .replaceAll("(Ann|Bob|Cyd|Dan)( holds the lock| was refused)", "SELLER$2")
        .replaceAll("\\b\\d+ sold of 5  OVERSOLD", "N sold of 5  OVERSOLD")
        .replaceAll("\\b\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z", "INSTANT")
        .replaceAll("\\b\\d{11,}\\b", "TOKEN")
        .replaceAll("[^\\s:]*/\\.local/state", "~/.local/state")
        .replaceAll("(?<![/\\w])[A-Za-z][\\w.-]*:\\d+\\b", "PROCESS")
        .replaceAll("\\b\\d+(\\.\\d+)?(us|ms|s|m|h)\\b( \\d+(ms|s|m)\\b)?", "TIME")
        .replaceAll(" {2,}", " ")
        .strip();
  }
}
