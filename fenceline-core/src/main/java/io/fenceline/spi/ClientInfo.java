package io.fenceline.spi;

/**
 * Who a client is, for people: shown by inspection, never compared.
 *
 * <p>Whoever can write to the store chooses these texts, and they end up in logs and terminals: no
 * character is kept that a terminal would obey, or that would begin a line of its own.
 *
 * @param label as given by the user; the host and process id unless given
 * @param host name of the machine
 * @param pid process id
 */
public record ClientInfo(String label, String host, long pid) {

  /** Replaces control and format characters. */
  public ClientInfo {
    label = harmless(label);
    host = harmless(host);
  }

  /** Returns a text with nothing in it that a terminal would obey. */
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
