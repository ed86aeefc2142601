package io.fenceline.cli;

import io.fenceline.FencelineException;
import io.fenceline.InvalidLockNameException;
import io.fenceline.InvalidSettingException;
import io.fenceline.LeaseTooShortException;
import io.fenceline.LimitExceededException;
import io.fenceline.LockLostException;
import io.fenceline.LockTimeoutException;
import io.fenceline.MissingGuaranteeException;
import io.fenceline.ModeConflictException;
import io.fenceline.StoreUnavailableException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import picocli.CommandLine;

/** Turns whatever was thrown into one line on stderr and an exit code. */
final class Failures {
  private Failures() {}

  /** Prints the line, and the stack trace under it if that was asked for. */
  static int report(Throwable thrown, List<String> args, boolean debug) {
    Message.print(hideAddresses(oneLine(thrown), args));
    if (debug) {
      StringWriter trace = new StringWriter();
      thrown.printStackTrace(new PrintWriter(trace));
      System.err.print(hideAddresses(trace.toString(), args));
    }
    return exitCode(thrown);
  }

  /** picocli repeats what it could not read, and an address in the wrong place has its password. */
  private static String hideAddresses(String text, List<String> args) {
    String hidden = text;
    for (String arg : args) {
      int slashes = arg.indexOf("://");
      if (slashes >= 0) {
        hidden = hidden.replace(arg, arg.substring(0, slashes) + "://***");
      }
    }
    return hidden;
  }

  static int exitCode(Throwable thrown) {
    if (thrown instanceof Failure failure) {
      return failure.exitCode();
    } else if (thrown instanceof LockTimeoutException) {
      return ExitCode.NOT_ACQUIRED;
    } else if (thrown instanceof StoreUnavailableException
        || thrown instanceof LeaseTooShortException) {
      return ExitCode.UNAVAILABLE;
    } else if (thrown instanceof LockLostException) {
      return ExitCode.LOST;
    } else if (isUsage(thrown)) {
      return ExitCode.USAGE;
    }
    return ExitCode.INTERNAL;
  }

  private static boolean isUsage(Throwable thrown) {
    return thrown instanceof CommandLine.ParameterException
        || thrown instanceof InvalidSettingException
        || thrown instanceof InvalidLockNameException
        || thrown instanceof MissingGuaranteeException
        || thrown instanceof ModeConflictException
        || thrown instanceof LimitExceededException;
  }

  private static String oneLine(Throwable thrown) {
    String said = String.valueOf(thrown.getMessage());
    String message = said.lines().map(String::strip).reduce((a, b) -> a + " " + b).orElse("");
    if (thrown instanceof CommandLine.ParameterException wrong) {
      return message + "; see '" + wrong.getCommandLine().getCommandName() + " --help'";
    } else if (thrown instanceof StoreUnavailableException) {
      return message + ". Check that it runs and lets you in: 'fenceline doctor' says more.";
    } else if (thrown instanceof FencelineException
        || thrown instanceof Failure
        || isUsage(thrown)) {
      return message;
    }
    return "internal error: " + thrown + ". Run it again with --debug, and report what it prints.";
  }
}
