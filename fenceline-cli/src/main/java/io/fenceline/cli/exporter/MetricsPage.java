package io.fenceline.cli.exporter;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fenceline.Fenceline;
import io.fenceline.FencelineException;
import io.fenceline.diagnosis.LockReport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/** Serves the figures of a store for Prometheus, in its text format, at {@code /metrics}. */
public final class MetricsPage implements AutoCloseable {
  private static final String PATH = "/metrics";
  private static final int OK = 200;
  private static final int NOT_FOUND = 404;
  private static final int NOT_ALLOWED = 405;
  private static final double NANOS_PER_SECOND = 1e9;

  private final Fenceline fenceline;
  private final String store;
  private final int limit;
  private final StoreFigures figures = new StoreFigures();
  private final HttpServer server;

  private MetricsPage(Fenceline fenceline, String store, int limit, HttpServer server) {
    this.fenceline = fenceline;
    this.store = store;
    this.limit = limit;
    this.server = server;
  }

  /**
   * Serves from now on, one request after another: whoever asks too often waits, and not the store.
   *
   * @param store its kind, without an address
   * @param limit how many names are looked at
   */
  public static MetricsPage serve(
      Fenceline fenceline, String store, int limit, InetSocketAddress address) throws IOException {
    HttpServer server = HttpServer.create(address, 0);
    MetricsPage page = new MetricsPage(fenceline, store, limit, server);
    server.createContext("/", page::answer);
    server.start();
    return page;
  }

  /** Where it is. */
  public InetSocketAddress address() {
    return server.getAddress();
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      if (!exchange.getRequestURI().getPath().equals(PATH)) {
        send(exchange, NOT_FOUND, "the figures are at " + PATH + "\n");
      } else if (!exchange.getRequestMethod().equals("GET")) {
        send(exchange, NOT_ALLOWED, "only GET\n");
      } else {
        send(exchange, OK, text());
      }
    }
  }

  private static void send(HttpExchange exchange, int code, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
    exchange.sendResponseHeaders(code, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  /** The page as it is now; a store that gives no answer is a figure, too. */
  String text() {
    long from = System.nanoTime();
    boolean isUp = true;
    boolean isComplete = false;
    Map<String, StoreFigures.Group> groups = Map.of();
    try {
      List<LockReport> found = fenceline.list("", limit + 1);
      isComplete = found.size() <= limit;
      groups = figures.of(isComplete ? found : found.subList(0, limit), Instant.now());
    } catch (FencelineException e) {
      isUp = false;
    }
    StringBuilder page = new StringBuilder();
    one(page, "fenceline_store_up", "Whether the store answers.", isUp ? 1 : 0);
    one(
        page,
        "fenceline_store_listing_complete",
        "Whether all names were looked at, and not the first --limit ones only.",
        isComplete ? 1 : 0);
    one(
        page,
        "fenceline_store_listing_seconds",
        "How long the store took to list its locks.",
        (System.nanoTime() - from) / NANOS_PER_SECOND);
    Map<String, StoreFigures.Group> sorted = new TreeMap<>(groups);
    each(page, "fenceline_store_names_held", "Names that are held.", sorted, g -> g.namesHeld());
    each(page, "fenceline_store_holders", "Processes that hold a name.", sorted, g -> g.holders());
    each(page, "fenceline_store_waiting", "Processes that wait.", sorted, g -> g.waiting());
    each(
        page,
        "fenceline_store_longest_hold_seconds",
        "Age of the oldest hold.",
        sorted,
        g -> seconds(g.longestHold()));
    each(
        page,
        "fenceline_store_oldest_wait_seconds",
        "Age of the oldest wait.",
        sorted,
        g -> seconds(g.oldestWait()));
    return page.toString();
  }

  private static double seconds(Duration duration) {
    return duration.toNanos() / NANOS_PER_SECOND;
  }

  private void one(StringBuilder page, String name, String help, double value) {
    header(page, name, help);
    page.append("%s{store=\"%s\"} %s\n".formatted(name, escaped(store), shown(value)));
  }

  private void each(
      StringBuilder page,
      String name,
      String help,
      Map<String, StoreFigures.Group> groups,
      Function<StoreFigures.Group, ? extends Number> figure) {
    header(page, name, help);
    groups.forEach(
        (group, figures) ->
            page.append(
                "%s{store=\"%s\",lock_group=\"%s\"} %s\n"
                    .formatted(
                        name,
                        escaped(store),
                        escaped(group),
                        shown(figure.apply(figures).doubleValue()))));
  }

  private static void header(StringBuilder page, String name, String help) {
    page.append("# HELP %s %s\n# TYPE %s gauge\n".formatted(name, help, name));
  }

  private static String shown(double value) {
    boolean isWhole = value == Math.rint(value);
    return isWhole ? Long.toString((long) value) : String.format(Locale.ROOT, "%.6f", value);
  }

  private static String escaped(String text) {
    return text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
