package io.fenceline.diagnosis;

/** Text from elsewhere, such as names and labels, made safe for a message, a log or a terminal. */
public final class PlainText {
  private PlainText() {}

  /** Returns the text with a question mark for each control or format character. */
  public static String of(String text) {
    if (text.chars().allMatch(c -> c >= ' ' && c < 0x7f)) {
      return text;
    }
    StringBuilder shown = new StringBuilder();
    text.codePoints().forEach(c -> shown.appendCodePoint(isPlain(c) ? c : '?'));
    return shown.toString();
  }

  private static boolean isPlain(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      default -> true;
    };
  }
}
