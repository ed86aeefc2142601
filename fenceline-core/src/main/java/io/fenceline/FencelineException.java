package io.fenceline;

import org.jspecify.annotations.Nullable;

/**
 * The parent of Fenceline's exceptions. They are unchecked, and their figures are also fields.
 *
 * <p>Messages may quote servers and data of other clients; control characters and line breaks in
 * them are replaced, so that they can't harm a terminal or forge a line of a log.
 */
public abstract class FencelineException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  FencelineException(String message, @Nullable Throwable cause) {
    super(harmless(message), cause);
  }

  /** Returns a text with nothing in it that a terminal would obey, or that would begin a line. */
  public static String harmless(String text) {
    if (text.chars().allMatch(c -> c >= ' ' && c < 0x7f)) {
      return text;
    }
    StringBuilder shown = new StringBuilder();
    text.codePoints().forEach(c -> shown.appendCodePoint(isHarmful(c) ? '?' : c));
    return shown.toString();
  }

  private static boolean isHarmful(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          true;
      default -> false;
    };
  }
}
