package io.fenceline.testbed.process;

import java.util.function.Supplier;

/** Someone else bound the port between our choosing it and the server's start. */
public final class PortTakenException extends RuntimeException {

  private static final long serialVersionUID = 1L;
  private static final int ATTEMPTS = 4;

  PortTakenException(String message) {
    super(message);
  }

  /** Starts something on ports of its own choice, again on other ones if they were taken. */
  public static <T> T retry(Supplier<T> start) {
    for (int attempt = 1; ; attempt++) {
      try {
        return start.get();
      } catch (PortTakenException e) {
        if (attempt == ATTEMPTS) {
          throw new HarnessException("No start in " + ATTEMPTS + " attempts: " + e.getMessage(), e);
        }
      }
    }
  }
}
