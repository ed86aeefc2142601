package io.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.cli.OddAddresses.Odd;
import io.fenceline.cli.failure.Failures;
import io.fenceline.cli.options.QuickArguments;
import io.fenceline.cli.options.StoreOptions;
import io.fenceline.spi.LockNames;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreFactory;
import io.fenceline.spi.StoreProvider;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** No part of a password of any address, however odd, is to be seen anywhere. */
class CanaryTest {
  private static final int ADDRESSES = 10_000;
  private static final int CONNECTED = 60;

  /** What takes long for each address: five times as many in {@code ./check --long}. */
  private static final int FACTOR = Integer.getInteger("fenceline.canaries", 1);

  private static final int EXAMINED = 4 * FACTOR;
  private static final int MISPLACED = 400 * FACTOR;
  private static final List<List<String>> NO_ARGUMENTS = List.of();
  private static final long SEED = 20_261_117;

  @TempDir Path folder;
  private int places;

  /** What was seen of an address, and where. */
  private final List<String> leaks = new ArrayList<>();

  private void see(Odd odd, String where, String text) {
    places++;
    if (text.contains(odd.canary())) {
      leaks.add(where + " of " + odd.address() + ": " + text.lines().findFirst().orElse(""));
    }
  }

  private static String all(Throwable thrown) {
    StringWriter trace = new StringWriter();
    thrown.printStackTrace(new PrintWriter(trace));
    return trace.toString();
  }

  private static String fail(List<String> leaks) {
    return leaks.size() + " leaks, such as\n" + String.join("\n", leaks.stream().limit(8).toList());
  }

  @Test
  void addressesErrorsAndFactories() {
    int parsed = 0;
    int accepted = 0;
    List<StoreProvider> providers =
        ServiceLoader.load(StoreProvider.class).stream().map(ServiceLoader.Provider::get).toList();
    for (Odd odd : new OddAddresses(SEED).stream(ADDRESSES).toList()) {
      StoreAddress address;
      try {
        address = StoreAddress.parse(odd.address());
      } catch (RuntimeException e) {
        see(odd, "the refusal", all(e));
        continue;
      }
      parsed++;
      see(odd, "toString", address.toString());
      see(odd, "withoutSecrets", address.withoutSecrets());
      see(odd, "an error", all(address.invalid("no")));
      StoreAddress again = reparsed(address.withoutSecrets());
      if (again != null) {
        assertThat(again.withoutSecrets()).isEqualTo(address.withoutSecrets());
      }
      for (StoreProvider provider : providers) {
        if (provider.schemes().contains(address.scheme())) {
          try {
            StoreFactory factory = provider.at(address);
            accepted++;
            see(odd, "the factory", String.valueOf(factory));
          } catch (RuntimeException e) {
            see(odd, "the provider's refusal", all(e));
          }
        }
      }
      try {
        see(odd, "the builder", String.valueOf(Fenceline.builder().store(odd.address())));
      } catch (RuntimeException e) {
        see(odd, "the builder's refusal", all(e));
      }
    }
    System.out.printf(
        "canaries: %d addresses, %d parsed, %d accepted, %d texts looked at, %d leaks%n",
        ADDRESSES, parsed, accepted, places, leaks.size());
    assertThat(leaks).as(fail(leaks)).isEmpty();
    assertThat(parsed).isGreaterThan(ADDRESSES / 4);
    assertThat(accepted).isGreaterThan(ADDRESSES / 20);
  }

  private static @org.jspecify.annotations.Nullable StoreAddress reparsed(String text) {
    try {
      return StoreAddress.parse(text);
    } catch (RuntimeException e) {
      return null; // Something was hidden that it can't do without.
    }
  }

  /** With logs of everything at every level; nobody listens at these ports. */
  @Test
  void connectionsAndLogs() throws Exception {
    Logger root = Logger.getLogger("");
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream err = System.err;
    Handler handler = new Recorder(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    Level level = root.getLevel();
    root.addHandler(handler);
    root.setLevel(Level.ALL);
    System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    int connected = 0;
    try {
      for (Odd odd : new OddAddresses(SEED + 1).stream(ADDRESSES).toList()) {
        if (connected == CONNECTED) {
          break;
        }
        if (!odd.address().contains(":1") || odd.address().startsWith("sqlite")) {
          continue;
        }
        connected++;
        try (Fenceline fenceline =
            Fenceline.builder()
                .store(odd.address())
                .connectTimeout(Duration.ofMillis(300))
                .operationTimeout(Duration.ofMillis(300))
                .connect()) {
          see(odd, "store()", fenceline.store() + fenceline);
        } catch (RuntimeException e) {
          see(odd, "the failure to connect", all(e));
        }
        see(odd, "the log", bytes.toString(StandardCharsets.UTF_8));
        bytes.reset();
      }
    } finally {
      System.setErr(err);
      root.setLevel(level);
      root.removeHandler(handler);
    }
    System.out.printf(
        "canaries: %d connected to, %d texts looked at, %d leaks%n",
        connected, places, leaks.size());
    assertThat(leaks).as(fail(leaks)).isEmpty();
    assertThat(connected).isEqualTo(CONNECTED);
  }

  /** What a command under a lock gets, and what is said of an address in a wrong place. */
  @Test
  void theCommandsEnvironment_andArgumentsThatAreNotUnderstood() throws Exception {
    int handedOn = 0;
    Map<String, CommandLine> lines = new HashMap<>(); // Costly to make, and they keep nothing.
    PrintStream err = System.err;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    try {
      for (Odd odd : new OddAddresses(SEED + 2).stream(ADDRESSES).toList()) {
        try {
          String address = options(odd.address()).addressForOthers();
          handedOn++;
          see(odd, "the command's environment", address);
        } catch (RuntimeException e) {
          Failures.report(e, List.of("run", "a", "--store", odd.address()), true);
        }
        for (List<String> args : places > MISPLACED ? NO_ARGUMENTS : wrongPlaces(odd.address())) {
          try {
            lines
                .computeIfAbsent(
                    args.get(0), name -> Subcommands.line(name, Subcommands.fresh(name)))
                .parseArgs(args.subList(1, args.size()).toArray(String[]::new));
            LockNames.check(odd.address() + "x".repeat(LockNames.MAX_BYTES));
          } catch (RuntimeException e) {
            Failures.report(e, args, true);
          }
        }
        see(
            odd,
            "what is said of an argument, with --debug",
            bytes.toString(StandardCharsets.UTF_8));
        bytes.reset();
      }
    } finally {
      System.setErr(err);
    }
    System.out.printf(
        "canaries: %d handed on, %d texts looked at, %d leaks%n", handedOn, places, leaks.size());
    assertThat(leaks).as(fail(leaks)).isEmpty();
    assertThat(handedOn).isGreaterThan(ADDRESSES / 4);
  }

  private static List<List<String>> wrongPlaces(String address) {
    return List.of(
        List.of("show", address),
        List.of("ls", "a", address),
        List.of("ls", "--limit=" + address),
        List.of("doctor", "--json", address));
  }

  private static StoreOptions options(String address) {
    StoreOptions options = new StoreOptions();
    QuickArguments args = new QuickArguments(List.of("--store=" + address));
    assertThat(args.nextOption() && options.read(args)).isTrue();
    return options;
  }

  /** Nobody listens at these ports; the doctor tells what it found all the same. */
  @Test
  void doctor_forPeopleAndAsJson() throws Exception {
    PrintStream out = System.out;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    int examined = 0;
    try {
      for (Odd odd : new OddAddresses(SEED + 3).stream(ADDRESSES).toList()) {
        if (examined == EXAMINED) {
          break;
        }
        if (!odd.address().contains(":1") || odd.address().startsWith("sqlite")) {
          continue;
        }
        System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        List<String> args =
            List.of("--connect-timeout=200ms", examined % 2 == 0 ? "--json" : "--lease=20s");
        try {
          Subcommand doctor = Subcommands.fresh("doctor");
          Subcommands.line("doctor", doctor)
              .parseArgs(args.get(0), args.get(1), "--store=" + odd.address());
          doctor.run();
          examined++;
        } catch (RuntimeException e) {
          // Refused: see above.
        } finally {
          System.setOut(out);
        }
        see(odd, "the doctor", bytes.toString(StandardCharsets.UTF_8));
        bytes.reset();
      }
    } finally {
      System.setOut(out);
    }
    System.out.printf("canaries: %d examined, %d leaks%n", examined, leaks.size());
    assertThat(leaks).as(fail(leaks)).isEmpty();
    assertThat(examined).isEqualTo(EXAMINED);
  }

  private static final class Recorder extends Handler {
    private final PrintStream out;

    Recorder(PrintStream out) {
      this.out = out;
      setLevel(Level.ALL);
      setFormatter(new SimpleFormatter());
    }

    @Override
    public void publish(LogRecord entry) {
      out.println(getFormatter().format(entry));
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }
}
