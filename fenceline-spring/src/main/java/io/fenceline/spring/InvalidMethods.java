package io.fenceline.spring;

import io.fenceline.settings.InvalidSettingException;
import org.jspecify.annotations.Nullable;

/** Says of a method that it is declared as {@link Locked} in a way that can't work. */
final class InvalidMethods {
  private InvalidMethods() {}

  /**
   * Returns the exception that keeps the application from starting.
   *
   * @param method as {@code Type.method(Parameter)}
   * @param remedy what would be right
   */
  static InvalidSettingException found(String method, String problem, String remedy) {
    return found(method, problem, remedy, null);
  }

  /** As {@link #found(String, String, String)}, with what was thrown. */
  static InvalidSettingException found(
      String method, String problem, String remedy, @Nullable Throwable cause) {
    InvalidSettingException found =
        new InvalidSettingException("@Locked", "on " + method, problem, remedy);
    if (cause != null) {
      found.initCause(cause);
    }
    return found;
  }
}
