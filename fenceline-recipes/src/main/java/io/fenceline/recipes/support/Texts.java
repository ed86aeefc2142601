package io.fenceline.recipes.support;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;

/** Reads scripts and statements, without their headers. */
public final class Texts {
  private static final Pattern COMMENT = Pattern.compile("(?m)^--.*\\R?");

  private Texts() {}

  /** Reads a file of the package of a class. */
  public static String read(Class<?> owner, String file) {
    try (InputStream in =
        Objects.requireNonNull(owner.getResourceAsStream(file), "resource " + file)) {
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return COMMENT.matcher(text).replaceAll("").strip();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the same, with words in the place of {@code {these}}. */
  public static String read(Class<?> owner, String file, Map<String, String> words) {
    String text = read(owner, file);
    for (Map.Entry<String, String> word : words.entrySet()) {
      text = text.replace("{" + word.getKey() + "}", word.getValue());
    }
    return text;
  }
}
