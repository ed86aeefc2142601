package io.fenceline.cli.options;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Walks through the plain forms of arguments: {@code --name value}, {@code --name=value}, {@code -n
 * value}, and words.
 *
 * <p>picocli takes longer to start than all the rest of {@code fenceline run} together. So that
 * command reads what it can by itself; at the first thing that is not plain (a cluster of options,
 * a value that does not fit, an unknown name) it gives up, and picocli reads everything, or says
 * what is wrong. picocli's declarations are the truth; a test holds this reading against them.
 */
public final class QuickArguments {
  private static final int MOST_DIGITS = 9;

  private final List<String> args;
  private final List<String> words = new ArrayList<>();
  private int next;
  private @Nullable String name;
  private @Nullable String attached;

  public QuickArguments(List<String> args) {
    this.args = args;
  }

  /** Steps to the next option, past words; false at the end. */
  public boolean nextOption() {
    while (next < args.size()) {
      String arg = args.get(next++);
      if (!arg.startsWith("-") || arg.equals("-")) {
        words.add(arg);
        continue;
      }
      int equals = arg.startsWith("--") ? arg.indexOf('=') : -1;
      name = equals < 0 ? arg : arg.substring(0, equals);
      attached = equals < 0 ? null : arg.substring(equals + 1);
      return true;
    }
    return false;
  }

  /** The option that was stepped to, or an empty name. */
  public String option() {
    return name == null ? "" : name;
  }

  /** Whether it came alone, as a flag must. */
  public boolean isFlag() {
    return attached == null;
  }

  /** Its value; null if there is none, or one that picocli should look at. */
  public @Nullable String value() {
    if (attached != null) {
      return attached.isEmpty() ? null : attached;
    }
    if (next == args.size() || args.get(next).startsWith("-")) {
      return null;
    }
    String value = args.get(next++);
    return value.isEmpty() ? null : value;
  }

  /** As {@link #value}, which must be a duration. */
  public @Nullable Duration duration() {
    String value = value();
    return value == null ? null : DurationText.parse(value).orElse(null);
  }

  /** As {@link #value}, which must be a plain number; negative if it is none. */
  public int number() {
    String value = value();
    boolean isPlain =
        value != null
            && value.length() <= MOST_DIGITS
            && value.chars().allMatch(c -> c >= '0' && c <= '9');
    return isPlain ? Integer.parseInt(value) : -1;
  }

  /** The words between the options. */
  public List<String> words() {
    return words;
  }
}
