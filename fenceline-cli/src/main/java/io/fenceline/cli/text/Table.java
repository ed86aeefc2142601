package io.fenceline.cli.text;

import io.fenceline.diagnosis.PlainText;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Columns that line up, for people. */
public final class Table {
  private static final String GAP = "  ";

  private final List<List<String>> rows = new ArrayList<>();

  /** Starts with a row of headings. */
  public Table(String... headings) {
    row(headings);
  }

  /** Adds a row. Control characters are replaced: what others chose must not steer the terminal. */
  public Table row(String... cells) {
    rows.add(Arrays.stream(cells).map(Table::harmless).toList());
    return this;
  }

  /** The lines, without trailing blanks. */
  public List<String> lines() {
    int columns = rows.stream().mapToInt(List::size).max().orElse(0);
    int[] widths = new int[columns];
    for (List<String> row : rows) {
      for (int i = 0; i < row.size(); i++) {
        widths[i] = Math.max(widths[i], width(row.get(i)));
      }
    }
    List<String> lines = new ArrayList<>();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < row.size(); i++) {
        line.append(row.get(i)).append(" ".repeat(widths[i] - width(row.get(i)))).append(GAP);
      }
      lines.add(line.toString().stripTrailing());
    }
    return lines;
  }

  /** A text with nothing in it that a terminal would obey. */
  public static String harmless(String text) {
    return PlainText.of(text);
  }

  /** Whether a terminal gives it two columns: East Asian scripts and pictures. */
  private static boolean isWide(int c) {
    return Character.isIdeographic(c)
        || (c >= 0x1100 && c <= 0x115F)
        || (c >= 0x3000 && c <= 0x30FF)
        || (c >= 0xAC00 && c <= 0xD7A3)
        || (c >= 0xFF00 && c <= 0xFF60)
        || (c >= 0x1F300 && c <= 0x1FAFF);
  }

  private static int width(String text) {
    return text.codePoints().map(c -> isWide(c) ? 2 : 1).sum();
  }
}
