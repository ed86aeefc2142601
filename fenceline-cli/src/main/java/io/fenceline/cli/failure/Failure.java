package io.fenceline.cli.failure;

import org.jspecify.annotations.Nullable;

/** A reason to stop that the user is told in one line, with the exit code that goes with it. */
public final class Failure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int exitCode;

  /** Says what is wrong and what to do. */
  public Failure(int exitCode, String message) {
    this(exitCode, message, null);
  }

  /** As {@link #Failure(int, String)}, with what {@code --debug} shows. */
  public Failure(int exitCode, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.exitCode = exitCode;
  }

  /** Wrong usage. */
  public static Failure usage(String message) {
    return new Failure(ExitCode.USAGE, message);
  }

  /** The exit code. */
  public int exitCode() {
    return exitCode;
  }
}
