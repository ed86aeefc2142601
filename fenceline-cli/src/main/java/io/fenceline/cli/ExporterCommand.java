package io.fenceline.cli;

import io.fenceline.Fenceline;
import io.fenceline.cli.exporter.MetricsPage;
import io.fenceline.cli.failure.ExitCode;
import io.fenceline.cli.failure.Failure;
import io.fenceline.cli.options.StoreOptions;
import io.fenceline.cli.run.Signals;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code fenceline exporter}: the state of a store as metrics. */
@Command(
    name = "exporter",
    description = {
      "Serves the state of the store for Prometheus, at http://ADDRESS/metrics, until it gets a signal.",
      "Names held, holders, waiting processes, longest hold and oldest wait, by group (the part of a",
      "name before its first ':', '/' or '.'; at most 100 groups, then 'other')."
    },
    footer = {
      "",
      "For locks of programs without metrics of their own. There is no login: keep it on the",
      "loopback address, or behind a firewall.",
      "Exit codes: 128 + signal when a signal ends it; 69 store unreachable; 71 address in use;",
      "64 wrong usage."
    })
final class ExporterCommand implements Subcommand {
  private static final Pattern ADDRESS =
      Pattern.compile("(?:(?<host>\\[[0-9A-Fa-f:.%]+\\]|[^:\\[\\]]*):)?(?<port>[0-9]{1,5})");
  private static final int LARGEST_PORT = 65_535;

  @Mixin private final StoreOptions store = new StoreOptions();

  @Option(
      names = "--listen",
      paramLabel = "ADDRESS",
      description = "HOST:PORT or PORT; default ${DEFAULT-VALUE}. Port 0: any free one.")
  private String listen = "127.0.0.1:9878";

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "How many names to read at most; default ${DEFAULT-VALUE}.")
  private int limit = 100_000;

  @Override
  public int run() throws InterruptedException {
    InetSocketAddress address = address(listen);
    if (limit < 1) {
      throw Failure.usage("--limit " + limit + ": it must be at least 1");
    }
    BlockingQueue<String> signals = new LinkedBlockingQueue<>();
    Signals.listen(signals::add);
    try (Fenceline fenceline = store.builder().connect();
        MetricsPage page = serve(fenceline, address)) {
      String host = page.address().getAddress().getHostAddress();
      String shown = host.contains(":") ? "[" + host + "]" : host;
      System.out.println("http://" + shown + ":" + page.address().getPort() + "/metrics");
      System.out.flush();
      String signal = signals.take();
      while (!Signals.ENDING.contains(signal)) {
        signal = signals.take();
      }
      return Signals.exitCode(signal);
    }
  }

  private MetricsPage serve(Fenceline fenceline, InetSocketAddress address) {
    try {
      return MetricsPage.serve(fenceline, store.address().scheme(), limit, address);
    } catch (IOException e) {
      throw new Failure(ExitCode.SYSTEM, "can't listen at " + listen + ": " + e.getMessage(), e);
    }
  }

  /** Without a host it is the loopback address; whoever wants all of them says 0.0.0.0. */
  static InetSocketAddress address(String text) {
    Matcher parts = ADDRESS.matcher(text);
    if (!parts.matches() || Integer.parseInt(parts.group("port")) > LARGEST_PORT) {
      throw Failure.usage("--listen " + text + ": write HOST:PORT, such as 127.0.0.1:9878");
    }
    String host = parts.group("host");
    boolean isLoopback = host == null || host.isEmpty();
    InetSocketAddress address =
        new InetSocketAddress(
            isLoopback ? "127.0.0.1" : host.replaceAll("[\\[\\]]", ""),
            Integer.parseInt(parts.group("port")));
    if (address.isUnresolved()) {
      throw Failure.usage("--listen " + text + ": there is no host of that name");
    }
    return address;
  }
}
