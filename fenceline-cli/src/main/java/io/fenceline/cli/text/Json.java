package io.fenceline.cli.text;

import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes maps, lists, strings, numbers and booleans as JSON; maps keep their order. */
public final class Json {
  private static final String INDENT = "  ";

  private final StringBuilder out = new StringBuilder();
  private final boolean pretty;

  private Json(boolean pretty) {
    this.pretty = pretty;
  }

  /** Over several lines, for files and people. */
  public static String pretty(Object value) {
    return new Json(true).write(value, 0);
  }

  /** On one line, for streams. */
  public static String line(Object value) {
    return new Json(false).write(value, 0);
  }

  private String write(Object value, int depth) {
    append(value, depth);
    return out.toString();
  }

  private void append(@Nullable Object value, int depth) {
    if (value == null || value instanceof Boolean || value instanceof Number) {
      out.append(value);
    } else if (value instanceof Map<?, ?> map) {
      appendAll('{', map.entrySet(), '}', depth);
    } else if (value instanceof Iterable<?> list) {
      appendAll('[', list, ']', depth);
    } else {
      appendString(value.toString());
    }
  }

  private void appendAll(char open, Iterable<?> items, char close, int depth) {
    out.append(open);
    Iterator<?> each = items.iterator();
    boolean any = each.hasNext();
    while (each.hasNext()) {
      breakLine(depth + 1);
      Object item = each.next();
      if (item instanceof Map.Entry<?, ?> entry) {
        appendString(String.valueOf(entry.getKey()));
        out.append(pretty ? ": " : ":");
        append(entry.getValue(), depth + 1);
      } else {
        append(item, depth + 1);
      }
      if (each.hasNext()) {
        out.append(',');
      }
    }
    if (any) {
      breakLine(depth);
    }
    out.append(close);
  }

  private void breakLine(int depth) {
    if (pretty) {
      out.append('\n').append(INDENT.repeat(depth));
    }
  }

  private void appendString(String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (Character.isISOControl(c)
          || Character.getType(c) == Character.FORMAT
          || (Character.isSurrogate(c) && !isPaired(text, i))) {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    out.append('"');
  }

  private static boolean isPaired(String text, int i) {
    char c = text.charAt(i);
    return Character.isHighSurrogate(c)
        ? i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))
        : i > 0 && Character.isHighSurrogate(text.charAt(i - 1));
  }
}
