package io.fenceline.http;

import io.fenceline.settings.InvalidSettingException;
import java.util.List;
import java.util.regex.Pattern;

/** A form of addresses: literal parts and variables, such as {@code /accounts/{id}}. */
final class Route {
  private static final Pattern PART = Pattern.compile("[A-Za-z0-9._~-]+");
  private static final Pattern VARIABLE = Pattern.compile("\\{[A-Za-z0-9_]+}");

  private final List<String> parts;

  private Route(List<String> parts) {
    this.parts = parts;
  }

  /**
   * Reads a form.
   *
   * @throws InvalidSettingException if it is none
   */
  static Route parse(String form) {
    List<String> parts = split(form);
    boolean isForm =
        form.startsWith("/")
            && parts.stream().allMatch(part -> isVariable(part) || isOrdinary(part));
    if (!isForm) {
      throw new InvalidSettingException(
          "route", "'" + form + "'", "it must be a path such as /accounts/{id}");
    }
    return new Route(parts);
  }

  private static List<String> split(String path) {
    return List.of(path.substring(path.isEmpty() ? 0 : 1).split("/", -1));
  }

  private static boolean isVariable(String part) {
    return VARIABLE.matcher(part).matches();
  }

  /** What needs no escapes, and means nothing to whoever resolves paths. */
  private static boolean isOrdinary(String part) {
    return PART.matcher(part).matches() && !part.equals(".") && !part.equals("..");
  }

  boolean matches(String path) {
    if (!path.startsWith("/")) {
      return false;
    }
    List<String> asked = split(path);
    if (asked.size() != parts.size()) {
      return false;
    }
    for (int i = 0; i < parts.size(); i++) {
      boolean fits =
          isVariable(parts.get(i)) ? isOrdinary(asked.get(i)) : parts.get(i).equals(asked.get(i));
      if (!fits) {
        return false;
      }
    }
    return true;
  }
}
