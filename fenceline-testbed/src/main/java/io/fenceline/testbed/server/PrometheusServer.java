package io.fenceline.testbed.server;

import io.fenceline.testbed.process.Debian;
import io.fenceline.testbed.process.Http;
import io.fenceline.testbed.process.PortTakenException;
import io.fenceline.testbed.process.RunAs;
import io.fenceline.testbed.process.ServerProcess;
import io.fenceline.testbed.process.Tool;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A Prometheus that scrapes one application four times a second, and evaluates rules as often. */
public final class PrometheusServer extends ServerProcess {
  private static final Pattern SAMPLE =
      Pattern.compile("\\{\"metric\":(\\{[^}]*}),\"value\":\\[[^,]*,\"([^\"]*)\"]}");

  private final String target;
  private final String rules;

  private PrometheusServer(String target, String rules) {
    super("prometheus", takePorts(1), false, RunAs.self());
    this.target = target;
    this.rules = rules;
  }

  /**
   * Starts one.
   *
   * @param target what it scrapes, as {@code host:port}; the path is {@code /metrics}
   * @param rules the content of a file of rules
   */
  public static PrometheusServer start(String target, String rules) {
    return PortTakenException.retry(
        () -> {
          PrometheusServer server = new PrometheusServer(target, rules);
          server.startFirst();
          return server;
        });
  }

  @Override
  protected void prepare() {
    try {
      Files.writeString(folder().resolve("rules.yml"), rules);
      Files.writeString(
          folder().resolve("prometheus.yml"),
          """
          global:
            scrape_interval: 250ms
            scrape_timeout: 250ms
            evaluation_interval: 250ms
          rule_files:
            - rules.yml
          scrape_configs:
            - job_name: application
              static_configs:
                - targets: ['%s']
          """
              .formatted(target));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  protected List<String> command() {
    return List.of(
        Debian.program("prometheus", "prometheus"),
        "--config.file=" + folder().resolve("prometheus.yml"),
        "--storage.tsdb.path=" + folder().resolve("data"),
        "--web.listen-address=" + address(),
        "--log.level=warn");
  }

  @Override
  protected boolean answers() throws IOException {
    return Http.get("http://" + address() + "/-/ready").contains("Ready");
  }

  /**
   * Asks for an instant vector, now.
   *
   * @return values by the labels of their series, in JSON; empty if there is none
   * @throws UncheckedIOException if the expression is wrong
   */
  public Map<String, Double> query(String expression) {
    String encoded = URLEncoder.encode(expression, StandardCharsets.UTF_8);
    try {
      String answer = Http.get("http://" + address() + "/api/v1/query?query=" + encoded);
      Map<String, Double> found = new LinkedHashMap<>();
      for (Matcher sample = SAMPLE.matcher(answer); sample.find(); ) {
        found.put(sample.group(1), Double.valueOf(sample.group(2).replace("+Inf", "Infinity")));
      }
      return found;
    } catch (IOException e) {
      throw new UncheckedIOException(expression, e);
    }
  }

  /** Runs Prometheus' own tool, such as {@code test rules FILE}, and gives its output. */
  public static String promtool(String... words) {
    List<String> command = new ArrayList<>();
    command.add(Debian.program("promtool", "prometheus"));
    command.addAll(List.of(words));
    return Tool.run(RunAs.self(), Map.of(), command);
  }
}
