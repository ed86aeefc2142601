package io.fenceline.bench.report;

import java.util.ArrayList;
import java.util.List;

/** Rows of text: with aligned columns for a terminal, or in Markdown. */
public final class Table {
  private final List<List<String>> rows = new ArrayList<>();

  /** With a header. */
  public Table(String... header) {
    rows.add(List.of(header));
  }

  /** One more row, of as many cells as the header has. */
  public void add(List<String> cells) {
    if (cells.size() != rows.get(0).size()) {
      throw new IllegalArgumentException(cells + " in a table of " + rows.get(0));
    }
    rows.add(List.copyOf(cells));
  }

  /** Whether there is nothing but the header. */
  boolean isEmpty() {
    return rows.size() == 1;
  }

  /** For a terminal; the first column is text, the others are figures. */
  public String plain() {
    StringBuilder text = new StringBuilder();
    for (List<String> row : rows) {
      for (int column = 0; column < row.size(); column++) {
        int width = width(column);
        String cell = row.get(column);
        String space = " ".repeat(width - cell.length());
        text.append(column == 0 ? cell + space : "  " + space + cell);
      }
      text.append(System.lineSeparator());
    }
    return text.toString();
  }

  private int width(int column) {
    return rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0);
  }

  /** For a page. */
  public String markdown() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < rows.size(); i++) {
      text.append("| ").append(String.join(" | ", rows.get(i))).append(" |\n");
      if (i == 0) {
        text.append("| --- ").append("| ---: ".repeat(rows.get(0).size() - 1)).append("|\n");
      }
    }
    return text.toString();
  }
}
