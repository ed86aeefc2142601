package io.fenceline.spring;

import org.jspecify.annotations.Nullable;

/** The name of a lock can't be told from the arguments of a call; the method was not called. */
public final class LockNameException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  private final String method;
  private final String expression;

  LockNameException(String method, String expression, String problem, @Nullable Throwable cause) {
    super(
        "The lock of %s has no usable name: '%s' %s. The method was not called."
            .formatted(method, expression, problem),
        cause);
    this.method = method;
    this.expression = expression;
  }

  /** The locked method. */
  public String method() {
    return method;
  }

  /** The expression, as it is written. */
  public String expression() {
    return expression;
  }
}
