package io.fenceline.cli.options;

import io.fenceline.cli.failure.ExitCode;
import io.fenceline.cli.failure.Failure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The user's config file, {@code $XDG_CONFIG_HOME/fenceline/config}: lines of {@code key = value}.
 *
 * <pre>
 * # Where the locks are; a password is better kept here than on a command line.
 * store = redis://app:secret@cache:6379
 * lease = 10s
 * </pre>
 */
public final class Config {
  /** The store's address. */
  public static final String STORE = "store";

  /** The lease of {@code fenceline run}. */
  public static final String LEASE = "lease";

  /** What this machine is called in {@code fenceline ls}. */
  public static final String LABEL = "label";

  private static final Set<String> KEYS = Set.of(STORE, LEASE, LABEL);

  private final Path file;
  private final Map<String, String> values;

  private Config(Path file, Map<String, String> values) {
    this.file = file;
    this.values = values;
  }

  /** Reads the file, if there is one. */
  public static Config load(Map<String, String> environment) {
    Path file = place(environment);
    List<String> lines;
    try {
      lines = Files.readAllLines(file, StandardCharsets.UTF_8);
    } catch (NoSuchFileException e) {
      lines = List.of();
    } catch (IOException e) {
      throw new Failure(ExitCode.USAGE, "can't read the config file " + file + ": " + e, e);
    }
    return new Config(file, parse(file, lines));
  }

  private static Path place(Map<String, String> environment) {
    String base = environment.getOrDefault("XDG_CONFIG_HOME", "");
    // The specification says to ignore a relative path.
    Path folder =
        base.startsWith("/")
            ? Path.of(base)
            : Path.of(environment.getOrDefault("HOME", "/"), ".config");
    return folder.resolve("fenceline").resolve("config");
  }

  private static Map<String, String> parse(Path file, List<String> lines) {
    Map<String, String> values = new LinkedHashMap<>();
    int number = 0;
    for (String line : lines) {
      number++;
      String text = line.strip();
      if (text.isEmpty() || text.startsWith("#")) {
        continue;
      }
      int equals = text.indexOf('=');
      String key = equals < 0 ? "" : text.substring(0, equals).strip();
      if (!KEYS.contains(key)) {
        // The line itself may hold a password.
        throw Failure.usage(
            file + ", line " + number + ": write key = value, with one of " + new TreeSet<>(KEYS));
      }
      values.put(key, text.substring(equals + 1).strip());
    }
    return values;
  }

  public Optional<String> get(String key) {
    return Optional.ofNullable(values.get(key));
  }

  public Path file() {
    return file;
  }
}
