package io.fenceline.spring;

import org.jspecify.annotations.Nullable;

/** A method is declared as {@link Locked} in a way that can't work; found at start. */
public final class InvalidLockedMethodException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  private final String method;
  private final String problem;
  private final String remedy;

  InvalidLockedMethodException(String method, String problem, String remedy) {
    this(method, problem, remedy, null);
  }

  InvalidLockedMethodException(
      String method, String problem, String remedy, @Nullable Throwable cause) {
    super("@Locked on %s: %s. %s".formatted(method, problem, remedy), cause);
    this.method = method;
    this.problem = problem;
    this.remedy = remedy;
  }

  /** Returns the method, as {@code Type.method(Parameter)}. */
  public String method() {
    return method;
  }

  /** Returns what is wrong. */
  public String problem() {
    return problem;
  }

  /** Returns what would be right. */
  public String remedy() {
    return remedy;
  }
}
