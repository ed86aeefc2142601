package io.fenceline.spi;

import io.fenceline.settings.InvalidSettingException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** The one rule for names, the same for every store: 1 to 200 bytes of UTF-8, no controls. */
public final class LockNames {
  /** The longest name, in bytes of UTF-8. */
  public static final int MAX_BYTES = 200;

  private static final int SHOWN = 60;

  private LockNames() {}

  /**
   * Returns the name if it is allowed.
   *
   * @throws InvalidSettingException otherwise
   */
  public static String check(String name) {
    Objects.requireNonNull(name, "name");
    if (name.isEmpty()) {
      throw refused("", 0, "it is empty");
    }
    return checkStart(name);
  }

  /**
   * Returns the prefix, which may be empty, if a name may start like that.
   *
   * @throws InvalidSettingException otherwise
   */
  public static String checkPrefix(String prefix) {
    return checkStart(Objects.requireNonNull(prefix, "prefix"));
  }

  private static String checkStart(String name) {
    int bytes = length(name);
    if (bytes > MAX_BYTES) {
      throw refused(show(name), bytes, "it is too long");
    }
    if (name.chars().anyMatch(Character::isISOControl)) {
      throw refused(show(name), bytes, "it has a control character");
    }
    return name;
  }

  private static int length(String name) {
    if (name.length() <= MAX_BYTES && isAscii(name)) {
      return name.length();
    }
    try {
      ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(name));
      return encoded.remaining();
    } catch (CharacterCodingException e) {
      throw refused(show(name), name.length(), "it has half a surrogate pair");
    }
  }

  private static boolean isAscii(String name) {
    for (int i = 0; i < name.length(); i++) {
      if (name.charAt(i) >= 0x80) {
        return false;
      }
    }
    return true;
  }

  private static InvalidSettingException refused(String shown, int bytes, String problem) {
    return new InvalidSettingException(
        "lock name",
        "'" + shown + "'",
        "%s (bytes=%d, limit=%d)".formatted(problem, bytes, MAX_BYTES));
  }

  private static String show(String name) {
    StringBuilder shown = new StringBuilder();
    name.codePoints()
        .limit(SHOWN)
        .forEach(
            c -> {
              if (Character.isISOControl(c) || (c >= 0xD800 && c <= 0xDFFF)) {
                shown.append(String.format("\\u%04x", c));
              } else {
                shown.appendCodePoint(c);
              }
            });
    return name.codePointCount(0, name.length()) > SHOWN ? shown + "…" : shown.toString();
  }
}
