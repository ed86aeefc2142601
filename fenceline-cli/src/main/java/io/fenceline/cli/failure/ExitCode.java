package io.fenceline.cli.failure;

/** The exit codes of the tool itself; a command that ran has its own. */
public final class ExitCode {
  /** All is well. */
  public static final int OK = 0;

  /** The answer is no: nothing was released, or the doctor found something serious. */
  public static final int NO = 1;

  /** Wrong usage, as sysexits.h has it. */
  public static final int USAGE = 64;

  /** The key of {@code once} was used for another request before. */
  public static final int OTHER_REQUEST = 65;

  /** The store can't be reached, or does not let us in. */
  public static final int UNAVAILABLE = 69;

  /** A defect of the tool. */
  public static final int INTERNAL = 70;

  /** Something of the operating system was refused, such as a new process. */
  public static final int SYSTEM = 71;

  /** The lock was not acquired; another try may succeed. */
  public static final int NOT_ACQUIRED = 75;

  /** The lock was lost while the command ran. */
  public static final int LOST = 79;

  /** A worker of the key of {@code once} vanished, and nobody has settled what it did. */
  public static final int IN_DOUBT = 80;

  /** The command is there, but can't be executed. */
  public static final int NOT_EXECUTABLE = 126;

  /** There is no such command. */
  public static final int NOT_FOUND = 127;

  /** What is added to a signal's number when it ended the command, or the tool. */
  public static final int SIGNAL_BASE = 128;

  private ExitCode() {}
}
