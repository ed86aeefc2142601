package io.fenceline.bench.report;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Maps, lists, numbers and text as JSON. */
final class Json {
  private Json() {}

  static String of(@Nullable Object value) {
    if (value instanceof Map<?, ?> map) {
      return map.entrySet().stream()
          .map(entry -> of(entry.getKey()) + ":" + of(entry.getValue()))
          .collect(Collectors.joining(",", "{", "}"));
    }
    if (value instanceof List<?> list) {
      return list.stream().map(Json::of).collect(Collectors.joining(",", "[", "]"));
    }
    if (value instanceof Double number) {
      return number.isNaN() || number.isInfinite()
          ? "null"
          : String.format(Locale.ROOT, "%.4g", number);
    }
    if (value instanceof Number number) {
      return number.toString();
    }
    return value == null ? "null" : text(value.toString());
  }

  private static String text(String text) {
    StringBuilder json = new StringBuilder("\"");
    text.chars()
        .forEach(
            c -> {
              if (c == '"' || c == '\\') {
                json.append('\\').append((char) c);
              } else if (c < ' ') {
                json.append(String.format("\\u%04x", c));
              } else {
                json.append((char) c);
              }
            });
    return json.append('"').toString();
  }
}
