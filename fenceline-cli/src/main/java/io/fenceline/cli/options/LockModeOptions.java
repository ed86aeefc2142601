package io.fenceline.cli.options;

import io.fenceline.Acquirable;
import io.fenceline.Fenceline;
import io.fenceline.Held;
import io.fenceline.LockOptions;
import io.fenceline.cli.failure.Failure;
import java.util.HashSet;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How a name is locked: exclusively, shared, or some of its permits. */
public final class LockModeOptions {
  private static final Pattern PERMITS = Pattern.compile("([0-9]{1,9})/([0-9]{1,9})");

  @Option(
      names = {"-x", "-e", "--exclusive"},
      description = "Exclusive lock: one holder at a time; the default.")
  private boolean exclusive;

  @Option(
      names = {"-s", "--shared"},
      description = "Shared lock: other --shared holders may hold it too.")
  private boolean shared;

  @Option(
      names = "--permits",
      paramLabel = "K/N",
      description = "K of the name's N permits: at most N at the same time.")
  private @Nullable String permits;

  /** Reads one option without picocli, for the quick start; false if it is none of these. */
  public boolean read(QuickArguments args) {
    switch (args.option()) {
      case "-x", "-e", "--exclusive" -> exclusive = true;
      case "-s", "--shared" -> shared = true;
      case "--permits" -> {
        permits = args.value();
        return permits != null;
      }
      default -> {
        return false;
      }
    }
    return args.isFlag();
  }

  /** Whether several may have it at once. */
  public boolean isShared() {
    return shared || permits != null;
  }

  /** Fails if the options exclude each other. */
  public void check(List<String> names) {
    if ((exclusive ? 1 : 0) + (shared ? 1 : 0) + (permits == null ? 0 : 1) > 1) {
      throw Failure.usage("-x (exclusive), -s (shared) and --permits exclude each other");
    }
    if (names.size() > 1 && (shared || permits != null)) {
      throw Failure.usage("several names can only be locked exclusively; give one name");
    }
    if (new HashSet<>(names).size() < names.size()) {
      throw Failure.usage("a name is given twice; give each name once");
    }
    if (permits != null) {
      permits(permits);
    }
  }

  public Acquirable<? extends Held> lock(
      Fenceline fenceline, List<String> names, LockOptions options) {
    String first = names.get(0);
    if (permits != null) {
      int[] counts = permits(permits);
      return fenceline.semaphore(first, counts[1], options).several(counts[0]);
    } else if (shared) {
      return fenceline.readWriteLock(first, options).readLock();
    }
    return names.size() == 1 ? fenceline.lock(first, options) : fenceline.lockAll(names, options);
  }

  private static int[] permits(String text) {
    Matcher shape = PERMITS.matcher(text);
    if (shape.matches()) {
      int count = Integer.parseInt(shape.group(1));
      int total = Integer.parseInt(shape.group(2));
      if (count >= 1 && count <= total) {
        return new int[] {count, total};
      }
    }
    throw Failure.usage("--permits " + text + ": write K/N with K from 1 to N, such as 1/3");
  }
}
