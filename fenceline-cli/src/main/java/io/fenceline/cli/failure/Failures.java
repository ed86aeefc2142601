package io.fenceline.cli.failure;

import io.fenceline.FencelineException;
import io.fenceline.LimitExceededException;
import io.fenceline.LockLostException;
import io.fenceline.LockTimeoutException;
import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.cli.text.Message;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.StoreAddress;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;

/** Turns whatever was thrown into one line on stderr and an exit code. */
public final class Failures {
  /** A scheme, and behind it what may be a login or a parameter. */
  private static final Pattern ADDRESS =
      Pattern.compile(
          "(?s)(?<option>(?:--?[\\w-]+=)?)"
              + "(?<scheme>(?:jdbc:)?[A-Za-z][A-Za-z0-9+.-]*:(?://)?)(?:.*[@=].*|(?<=//).*)");

  private static final Pattern MAY_HAVE_A_SECRET =
      Pattern.compile("(?s).*(?:[:/=].*(?:@|%40)|[?&;].*=|://).*");
  private static final Pattern SIGNS = Pattern.compile("[^\\p{L}\\p{N}]+");
  private static final int SHORTEST_WORD = 3;
  private static final String HIDDEN = "***";

  private Failures() {}

  /** Prints the line, and the stack trace under it if that was asked for. */
  public static int report(Throwable thrown, List<String> args, boolean debug) {
    Message.print(hideSecrets(oneLine(thrown), thrown, args));
    if (debug) {
      StringWriter trace = new StringWriter();
      thrown.printStackTrace(new PrintWriter(trace));
      System.err.print(hideSecrets(trace.toString(), thrown, args));
    }
    return exitCode(thrown);
  }

  /** Halts in any case, also when there is no memory left to say why. */
  public static void reportAndHalt(Throwable thrown, IntConsumer halt) {
    int code = ExitCode.INTERNAL;
    try {
      code = report(thrown, List.of(), false);
    } finally {
      halt.accept(code);
    }
  }

  /**
   * An argument that was not understood is repeated, whole or cut, and an address in the wrong
   * place has its password; one that is mistyped does not even look like an address.
   */
  private static String hideSecrets(String text, Throwable thrown, List<String> args) {
    String hidden = text;
    for (String arg : args) {
      Matcher address = ADDRESS.matcher(arg);
      if (address.matches()) {
        String value = arg.substring(address.end("option"));
        if (!hasNoSecret(value)) {
          hidden = hidden.replace(value, address.group("scheme") + HIDDEN);
        }
      }
    }
    boolean repeats =
        thrown instanceof CommandLine.ParameterException
            || thrown instanceof InvalidSettingException;
    if (repeats) {
      for (String arg : args) {
        hidden = MAY_HAVE_A_SECRET.matcher(arg).matches() ? hideWords(hidden, arg) : hidden;
      }
    }
    return hidden;
  }

  /** Whether it is an address that could be shown to anybody; one that can't be read is not. */
  private static boolean hasNoSecret(String value) {
    try {
      StoreAddress address = StoreAddress.parse(value);
      return address.withoutSecrets().equals(value) && address.toString().equals(value);
    } catch (InvalidSettingException e) {
      return false;
    }
  }

  /** What is left of it after its scheme, word by word, since its signs may have been replaced. */
  private static String hideWords(String text, String arg) {
    String hidden = text;
    String rest = arg.replaceFirst("(?s)^(--?[\\w-]+=)?(jdbc:)?[\\w+.-]*", "");
    for (String word : SIGNS.split(rest, -1)) {
      for (int length = word.length(); length >= SHORTEST_WORD; length--) {
        String start = word.substring(0, length); // The last one may have been cut.
        if (hidden.contains(start)) {
          hidden = hidden.replace(start, HIDDEN);
          break;
        }
      }
    }
    return hidden;
  }

  public static int exitCode(Throwable thrown) {
    if (thrown instanceof Failure failure) {
      return failure.exitCode();
    } else if (thrown instanceof LockTimeoutException) {
      return ExitCode.NOT_ACQUIRED;
    } else if (thrown instanceof StoreUnavailableException
        || thrown instanceof StoreRefusedException
        || isLeaseTooShort(thrown)) {
      return ExitCode.UNAVAILABLE;
    } else if (thrown instanceof LockLostException) {
      return ExitCode.LOST;
    } else if (isUsage(thrown)) {
      return ExitCode.USAGE;
    }
    return ExitCode.INTERNAL;
  }

  private static boolean isLeaseTooShort(Throwable thrown) {
    return thrown instanceof LimitExceededException e
        && e.limit().equals(LimitExceededException.REMAINING_LEASE);
  }

  private static boolean isUsage(Throwable thrown) {
    return thrown instanceof CommandLine.ParameterException
        || thrown instanceof InvalidSettingException
        || thrown instanceof LimitExceededException;
  }

  private static String oneLine(Throwable thrown) {
    String said = String.valueOf(thrown.getMessage());
    String message = said.lines().map(String::strip).reduce((a, b) -> a + " " + b).orElse("");
    if (thrown instanceof CommandLine.ParameterException wrong) {
      return message + "; see '" + wrong.getCommandLine().getCommandName() + " --help'";
    } else if (thrown instanceof StoreUnavailableException) {
      return message + ". 'fenceline doctor' tells more.";
    } else if (thrown instanceof FencelineException
        || thrown instanceof Failure
        || isUsage(thrown)) {
      return message;
    }
    return "internal error: " + thrown + ". Run it again with --debug, and report what it prints.";
  }
}
