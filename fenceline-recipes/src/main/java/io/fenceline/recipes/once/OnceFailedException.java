package io.fenceline.recipes.once;

/** The stored failure of a key: the work failed before, in a way that was declared a result. */
public final class OnceFailedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String key;
  private final String type;

  OnceFailedException(String key, String type, String message) {
    super(message);
    this.key = key;
    this.type = type;
  }

  /** Returns which key. */
  public String key() {
    return key;
  }

  /** Returns the class of the exception that the worker threw; the message is that exception's. */
  public String type() {
    return type;
  }
}
