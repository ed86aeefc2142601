package io.fenceline.recipes.support;

import io.fenceline.settings.InvalidSettingException;
import java.util.regex.Pattern;

/**
 * The one rule for names of recipes, which lock names are made from: 1 to 50 letters, digits, dots,
 * dashes and underscores.
 */
public final class RecipeNames {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,50}");

  private RecipeNames() {}

  /**
   * Checks a name.
   *
   * @throws InvalidSettingException if it is not allowed
   */
  public static void check(String name) {
    if (!NAME.matcher(name).matches()) {
      throw new InvalidSettingException(
          "name",
          "'" + name + "'",
          "it must be 1 to 50 letters, digits, dots, dashes, underscores");
    }
  }
}
