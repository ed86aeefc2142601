package io.fenceline.testkit.server;

/** A server could not be started or spoken to: the test's surroundings failed, not the test. */
public final class HarnessException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  HarnessException(String message) {
    super(message);
  }

  HarnessException(String message, Throwable cause) {
    super(message, cause);
  }
}
