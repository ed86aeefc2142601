package io.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.cli.failure.Failure;
import io.fenceline.cli.tool.Tool;
import io.fenceline.cli.tool.Tool.Call;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code fenceline exporter}: asked by HTTP, and checked by Prometheus' own tool. */
class ExporterIT {
  @TempDir Path folder;

  private static HttpResponse<String> get(String address) throws Exception {
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(URI.create(address)).timeout(Tool.PATIENCE).build(),
            HttpResponse.BodyHandlers.ofString());
  }

  /** The figures of a page, by name and labels. */
  private static Map<String, Double> figures(String page) {
    Map<String, Double> found = new TreeMap<>();
    page.lines()
        .filter(line -> !line.startsWith("#"))
        .forEach(
            line -> {
              int blank = line.lastIndexOf(' ');
              found.put(line.substring(0, blank), Double.valueOf(line.substring(blank + 1)));
            });
    return found;
  }

  @Test
  void figuresAreThoseOfTheStore_byGroup_andTheGroupsAreBounded() throws Exception {
    Tool tool = new Tool(folder);
    List<AutoCloseable> held = new ArrayList<>();
    try (Fenceline fenceline = Fenceline.connect("sqlite:" + folder.resolve("locks.db"))) {
      Call exporter = tool.start("exporter", "--listen", "0");
      String address = exporter.firstLine().strip();
      assertThat(address).matches("http://127\\.0\\.0\\.1:[0-9]+/metrics");
      held.add(fenceline.lock("orders:1").acquire());
      held.add(fenceline.lock("orders:2").acquire());
      held.add(fenceline.lock("alone").acquire());
      var waiting = fenceline.lock("orders:1").acquireAsync(Tool.PATIENCE);
      try (Fenceline other = Fenceline.connect("sqlite:" + folder.resolve("locks.db"))) {
        var outside = other.lock("orders:2").acquireAsync(Tool.PATIENCE);
        io.fenceline.testkit.Eventually.until(
            Tool.PATIENCE,
            "the waiter to be seen",
            () ->
                figures(get(address).body())
                    .getOrDefault(labelled("waiting", "orders"), 0.0)
                    .equals(1.0));
        Map<String, Double> figures = figures(get(address).body());
        assertThat(figures)
            .containsEntry("fenceline_store_up{store=\"sqlite\"}", 1.0)
            .containsEntry("fenceline_store_listing_complete{store=\"sqlite\"}", 1.0)
            .containsEntry(labelled("names_held", "orders"), 2.0)
            .containsEntry(labelled("holders", "orders"), 2.0)
            .containsEntry(labelled("names_held", "other"), 1.0)
            .containsEntry(labelled("waiting", "other"), 0.0);
        assertThat(figures.get(labelled("longest_hold_seconds", "orders"))).isPositive();
        assertThat(figures.get(labelled("oldest_wait_seconds", "orders"))).isPositive();
        outside.cancel(false);
      }
      waiting.cancel(false);
      for (int i = 0; i < 120; i++) {
        held.add(fenceline.lock("group" + i + ":x").acquire());
      }
      String page = get(address).body();
      assertThat(page.lines().filter(line -> line.startsWith("fenceline_store_holders{")))
          .hasSize(101);
      assertThat(get(address.replace("/metrics", "/")).statusCode()).isEqualTo(404);
      Process promtool =
          new ProcessBuilder("promtool", "check", "metrics").redirectErrorStream(true).start();
      promtool.getOutputStream().write(page.getBytes());
      promtool.getOutputStream().close();
      String said = new String(promtool.getInputStream().readAllBytes());
      assertThat(promtool.waitFor(1, TimeUnit.MINUTES)).isTrue();
      assertThat(promtool.exitValue()).as(said).isZero();
      for (AutoCloseable each : held) {
        each.close();
      }
      assertThat(figures(get(address).body()))
          .containsEntry(labelled("names_held", "orders"), 0.0)
          .containsEntry(labelled("longest_hold_seconds", "orders"), 0.0);
      exporter.signal("TERM");
      assertThat(exporter.await().code()).isEqualTo(143);
    }
  }

  private static String labelled(String name, String group) {
    return "fenceline_store_%s{store=\"sqlite\",lock_group=\"%s\"}".formatted(name, group);
  }

  @Test
  void aStoreThatIsDown_isAFigure() throws Exception {
    Tool tool = new Tool(folder);
    try (var redis = io.fenceline.testbed.server.RedisServer.start()) {
      tool.environment.put("FENCELINE_STORE", redis.uri());
      Call exporter = tool.start("exporter", "--listen", "127.0.0.1:0");
      String address = exporter.firstLine().strip();
      assertThat(figures(get(address).body()))
          .containsEntry("fenceline_store_up{store=\"redis\"}", 1.0);
      redis.kill();
      assertThat(figures(get(address).body()))
          .containsEntry("fenceline_store_up{store=\"redis\"}", 0.0);
      exporter.signal("INT");
      assertThat(exporter.await(Duration.ofMinutes(1)).code()).isEqualTo(130);
    }
  }

  @Test
  void addresses_thatAreWrong_areRefused() {
    assertThat(ExporterCommand.address("9878").toString()).contains("127.0.0.1:9878");
    assertThat(ExporterCommand.address(":9878").getAddress().isLoopbackAddress()).isTrue();
    assertThat(ExporterCommand.address("[::1]:1").getPort()).isOne();
    assertThat(ExporterCommand.address("0.0.0.0:1").getAddress().isAnyLocalAddress()).isTrue();
    for (String wrong : List.of("", "host", "1.2.3.4:99999", "a:b:1")) {
      assertThatThrownBy(() -> ExporterCommand.address(wrong)).isInstanceOf(Failure.class);
    }
  }
}
