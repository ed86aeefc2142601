package io.fenceline.cli.options;

import io.fenceline.Fenceline;
import io.fenceline.FencelineBuilder;
import io.fenceline.cli.failure.Failure;
import io.fenceline.spi.StoreAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where the locks are: by option, environment, config file, or the embedded store. */
public final class StoreOptions {
  /** The environment variable; commands under a lock get it without its password. */
  public static final String VARIABLE = "FENCELINE_STORE";

  /** Instead of an address that can't be had without its secrets. */
  private static final String WITHHELD = "withheld:";

  /** The embedded store, in the user's state folder. */
  public static final String DEFAULT = "sqlite:";

  @Option(
      names = "--store",
      paramLabel = "URI",
      description = {
        "Where the locks are, such as redis://cache:6379; see 'fenceline stores'."
            + " Default: $FENCELINE_STORE, then 'store =' in the config file, then the embedded sqlite:"
      })
  private @Nullable String given;

  @Option(
      names = "--connect-timeout",
      paramLabel = "TIME",
      description = "How long connecting to the store may take; default 10s.")
  private @Nullable Duration connectTimeout;

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration LONGEST_CONNECT_TIMEOUT = Duration.ofSeconds(60);

  @Option(
      names = "--label",
      paramLabel = "TEXT",
      description = "What this process is called in 'fenceline ls'; default host and process id.")
  private @Nullable String label;

  /** Reads one option without picocli, for the quick start; false if it is none of these. */
  public boolean read(QuickArguments args) {
    String option = args.option();
    String value = args.value();
    if (value == null) {
      return false;
    } else if (option.equals("--store")) {
      given = value;
      return true;
    } else if (option.equals("--label")) {
      label = value;
      return true;
    }
    Optional<Duration> timeout = DurationText.parse(value);
    timeout.ifPresent(time -> connectTimeout = time);
    return option.equals("--connect-timeout") && timeout.isPresent();
  }

  private final Map<String, String> environment = System.getenv();
  private @Nullable Config config;

  public Config config() {
    Config loaded = config;
    if (loaded == null) {
      loaded = Config.load(environment);
      config = loaded;
    }
    return loaded;
  }

  /** The address that counts. */
  public StoreAddress address() {
    if (given != null) {
      return StoreAddress.parse(given);
    }
    Optional<String> configured = config().get(Config.STORE);
    String inherited = environment.getOrDefault(VARIABLE, "");
    if (inherited.isEmpty()) {
      return StoreAddress.parse(configured.orElse(DEFAULT));
    }
    // A run inside a run inherits the address without its password: if it is the one of the config
    // file otherwise, the file has the password.
    if (configured.isPresent()) {
      StoreAddress whole = StoreAddress.parse(configured.get());
      boolean isWithheld = inherited.equals(WITHHELD + whole.withoutSecrets());
      if (isWithheld || whole.withoutSecrets().equals(inherited)) {
        return whole;
      }
    }
    if (inherited.startsWith(WITHHELD)) {
      throw Failure.usage(
          "$"
              + VARIABLE
              + ": the run around this one could not pass its store's address on without a secret;"
              + " name the store by --store, or put the password last in the address");
    }
    return StoreAddress.parse(inherited);
  }

  /**
   * The address for a process that may run in another folder, and must not see a password. Where
   * there is none that leads to the same store, one that leads nowhere: a run inside this run must
   * not take its locks from another store.
   */
  public String addressForOthers() {
    StoreAddress address = address();
    boolean isFile = address.scheme().endsWith("sqlite") && !address.path().isEmpty();
    if (isFile && !address.path().startsWith("/")) {
      Path absolute = Path.of(address.path()).toAbsolutePath().normalize();
      address = StoreAddress.parse(address.scheme() + ":" + absolute);
    }
    String configured = config().get(Config.STORE).orElse("");
    boolean isConfigured = address.secretText().equals(configured);
    String withheld = WITHHELD + (isConfigured ? address.withoutSecrets() : "");
    return address.forOthers().orElse(withheld);
  }

  /** Where the address came from, for the doctor. */
  public String source() {
    if (given != null) {
      return "--store";
    } else if (!environment.getOrDefault(VARIABLE, "").isEmpty()) {
      return "$" + VARIABLE;
    }
    return config().get(Config.STORE).isPresent() ? config().file().toString() : "the default";
  }

  /** Kept, since the log manager forgets loggers that nobody has. */
  private @Nullable Logger grpc;

  public FencelineBuilder builder() {
    return builder(null);
  }

  /**
   * Whoever is to wait does not give up a store that is busy, since many others come at once.
   *
   * @param wait how long the user is willing to wait; null if that is not known
   */
  Duration connectTimeout(@Nullable Duration wait) {
    if (connectTimeout != null) {
      return connectTimeout;
    } else if (wait == null || wait.compareTo(CONNECT_TIMEOUT) < 0) {
      return CONNECT_TIMEOUT;
    }
    return wait.compareTo(LONGEST_CONNECT_TIMEOUT) < 0 ? wait : LONGEST_CONNECT_TIMEOUT;
  }

  public FencelineBuilder builder(@Nullable Duration wait) {
    StoreAddress address = address();
    if (address.scheme().equals("etcd")) {
      // Its driver tells on stderr what kind of sockets it has found, and cron would send a mail.
      grpc = Logger.getLogger("io.grpc");
      grpc.setLevel(Level.WARNING);
    }
    FencelineBuilder builder =
        Fenceline.builder().store(address.secretText()).connectTimeout(connectTimeout(wait));
    if (label != null) {
      return builder.label(label);
    }
    config().get(Config.LABEL).ifPresent(builder::label);
    return builder;
  }
}
