package io.fenceline.testbed.process;

/** A server could not be started or spoken to: the test's surroundings failed, not the test. */
public final class HarnessException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  public HarnessException(String message) {
    super(message);
  }

  public HarnessException(String message, Throwable cause) {
    super(message, cause);
  }
}
