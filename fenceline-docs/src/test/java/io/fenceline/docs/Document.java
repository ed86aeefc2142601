package io.fenceline.docs;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A page in Markdown, as far as it can be checked: headings, blocks, tables, links, inline code.
 */
final class Document {
  private static final Pattern FENCE = Pattern.compile("^(`{3,})\\s*(\\S*).*$");
  private static final Pattern HEADING = Pattern.compile("^(#{1,6})\\s+(.*?)\\s*#*$");
  private static final Pattern COMMENT = Pattern.compile("^\\s*<!--\\s*(.*?)\\s*-->\\s*$");
  private static final Pattern CODE = Pattern.compile("(`+)(.+?)\\1");
  private static final Pattern INLINE_LINK =
      Pattern.compile("\\]\\(([^)\\s]+)(?:\\s+\"([^\"]*)\")?\\)");
  private static final Pattern REFERENCE = Pattern.compile("\\[([^\\[\\]]+)\\]\\[([^\\[\\]]*)\\]");
  private static final Pattern DEFINITION =
      Pattern.compile("^\\[([^\\]]+)\\]:\\s+(\\S+)(?:\\s+\"([^\"]*)\")?\\s*$");
  private static final Pattern HTML_LINK = Pattern.compile("(?:href|src)=\"([^\"]+)\"");

  /** A heading, with its level. */
  record Heading(int level, String text) {}

  final String path;
  final List<Heading> headings = new ArrayList<>();
  final List<Block> blocks = new ArrayList<>();
  final List<Table> tables = new ArrayList<>();
  final List<Link> links = new ArrayList<>();
  final Set<String> anchors = new LinkedHashSet<>();
  final Set<String> inlineCode = new TreeSet<>();
  final List<String> problems = new ArrayList<>();

  private final Map<String, Link> definitions = new HashMap<>();

  static Document read(Path file) {
    return new Document(Repository.ROOT.relativize(file).toString(), Repository.read(file));
  }

  Document(String path, String text) {
    this.path = path;
    List<String> lines = text.lines().toList();
    readDefinitions(lines);
    boolean afterBlank = true;
    String marker = "";
    List<List<String>> rows = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i);
      boolean isRow = line.startsWith("|");
      if (!rows.isEmpty() && !isRow) {
        tables.add(new Table(i - rows.size(), marker, List.copyOf(rows)));
        rows.clear();
        marker = "";
      }
      Matcher fence = FENCE.matcher(line);
      if (fence.matches()) {
        i = readBlock(lines, i, fence.group(1), fence.group(2), marker);
        marker = "";
        continue;
      }
      // Neither would be seen as a block here, though it is one where the page is shown.
      if (line.matches("\\s+`{3,}.*|~{3,}.*") || (afterBlank && line.startsWith("    "))) {
        problems.add(path + ":" + (i + 1) + " a block that is indented or has no fence of ```");
      }
      afterBlank = line.isBlank();
      if (isRow) {
        if (!line.matches("[|\\s:-]+")) {
          rows.add(cells(line));
        }
      } else if (!line.isBlank()) {
        Matcher comment = COMMENT.matcher(line);
        marker = comment.matches() ? comment.group(1) : "";
      }
      readProse(line, i + 1);
    }
    if (!rows.isEmpty()) {
      tables.add(new Table(lines.size() - rows.size(), marker, List.copyOf(rows)));
    }
  }

  private void readDefinitions(List<String> lines) {
    for (int i = 0; i < lines.size(); i++) {
      Matcher definition = DEFINITION.matcher(lines.get(i));
      if (definition.matches()) {
        definitions.put(
            definition.group(1).toLowerCase(Locale.ROOT),
            new Link(path, i + 1, definition.group(2), nonNull(definition.group(3))));
      }
    }
    links.addAll(definitions.values());
  }

  private int readBlock(
      List<String> lines, int start, String fence, String language, String marker) {
    StringBuilder text = new StringBuilder();
    for (int i = start + 1; i < lines.size(); i++) {
      if (lines.get(i).strip().equals(fence)) {
        blocks.add(new Block(path, start + 1, language, marker, text.toString()));
        return i;
      }
      text.append(lines.get(i)).append('\n');
    }
    problems.add(path + ":" + (start + 1) + " a block that does not end");
    return lines.size();
  }

  private void readProse(String line, int number) {
    Matcher heading = HEADING.matcher(line);
    if (heading.matches()) {
      headings.add(new Heading(heading.group(1).length(), heading.group(2)));
      addAnchor(slug(heading.group(2)));
    }
    Matcher code = CODE.matcher(line);
    while (code.find()) {
      inlineCode.add(code.group(2).strip());
    }
    // What is inside code is no link; its length stays.
    String masked = CODE.matcher(line).replaceAll(match -> "x".repeat(match.group().length()));
    Matcher anchor = Pattern.compile("<a (?:id|name)=\"([^\"]+)\"").matcher(masked);
    while (anchor.find()) {
      addAnchor(anchor.group(1));
    }
    if (DEFINITION.matcher(line).matches()) {
      return;
    }
    Matcher inline = INLINE_LINK.matcher(masked);
    while (inline.find()) {
      links.add(new Link(path, number, inline.group(1), nonNull(inline.group(2))));
    }
    Matcher html = HTML_LINK.matcher(masked);
    while (html.find()) {
      links.add(new Link(path, number, html.group(1), ""));
    }
    Matcher reference = REFERENCE.matcher(masked);
    while (reference.find()) {
      String name = reference.group(2).isEmpty() ? reference.group(1) : reference.group(2);
      if (!definitions.containsKey(name.toLowerCase(Locale.ROOT))) {
        problems.add(path + ":" + number + " no definition of the link [" + name + "]");
      }
    }
  }

  private void addAnchor(String anchor) {
    String unique = anchor;
    for (int i = 1; !anchors.add(unique); i++) {
      unique = anchor + "-" + i;
    }
  }

  /** The definition that a reference in a cell means, or the link inside it; null without one. */
  Link linkIn(String cell) {
    Matcher inline = INLINE_LINK.matcher(cell);
    if (inline.find()) {
      return new Link(path, 0, inline.group(1), nonNull(inline.group(2)));
    }
    Matcher reference = REFERENCE.matcher(cell);
    return reference.find()
        ? definitions.get(
            (reference.group(2).isEmpty() ? reference.group(1) : reference.group(2))
                .toLowerCase(Locale.ROOT))
        : null;
  }

  /** The tables whose marker is this. */
  Table table(String marker) {
    return tables.stream()
        .filter(table -> table.marker().equals(marker))
        .findFirst()
        .orElseThrow(() -> new AssertionError(path + " has no table marked '" + marker + "'"));
  }

  /** How GitHub names the anchor of a heading. */
  static String slug(String heading) {
    return heading
        .replaceAll("\\[([^\\]]*)\\]\\([^)]*\\)", "$1")
        .toLowerCase(Locale.ROOT)
        .replaceAll("[^\\p{L}\\p{M}\\p{N}_\\- ]", "")
        .replace(' ', '-');
  }

  private static List<String> cells(String row) {
    String inner = row.strip().replaceAll("^\\||\\|$", "");
    List<String> cells = new ArrayList<>();
    for (String cell : inner.split("(?<!\\\\)\\|", -1)) {
      cells.add(cell.strip());
    }
    return cells;
  }

  private static String nonNull(String text) {
    return text == null ? "" : text;
  }

  @Override
  public String toString() {
    return path;
  }
}
