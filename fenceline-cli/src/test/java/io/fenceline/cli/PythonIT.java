package io.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.fenceline.StaleTokenException;
import io.fenceline.cli.tool.Tool;
import io.fenceline.cli.tool.Tool.Call;
import io.fenceline.cli.tool.Tool.Result;
import io.fenceline.fence.MemoryFence;
import io.fenceline.http.FencingTokens;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Python programs of docs/cli.md, against a service that has a fence. */
class PythonIT {
  private static final int NO_CONTENT = 204;
  private static final int CONFLICT = 409;

  @TempDir Path folder;
  private Tool tool;
  private HttpServer service;
  private String url;

  @BeforeEach
  void start() throws Exception {
    tool = new Tool(folder);
    MemoryFence fence = new MemoryFence();
    service = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    service.createContext(
        "/ledger",
        exchange -> {
          int code = NO_CONTENT;
          try {
            String header = exchange.getRequestHeaders().getFirst(FencingTokens.HEADER);
            fence.check("ledger", FencingTokens.parse(header));
          } catch (StaleTokenException e) {
            code = CONFLICT;
          }
          exchange.sendResponseHeaders(code, -1);
          exchange.close();
        });
    service.start();
    url = "http://127.0.0.1:" + service.getAddress().getPort() + "/ledger";
  }

  @AfterEach
  void stop() {
    service.stop(0);
  }

  /** A program of the page, in a file. */
  private Path program(int number) throws Exception {
    Path root = Path.of(System.getProperty("fenceline.root"));
    Matcher blocks =
        Pattern.compile("(?s)```python\n(.*?)```")
            .matcher(Files.readString(root.resolve("docs/cli.md")));
    List<String> found = blocks.results().map(block -> block.group(1)).toList();
    return Files.writeString(folder.resolve("program-" + number + ".py"), found.get(number));
  }

  private Call run() throws Exception {
    String[] args = {
      "run", "ledger", "--on-lost", "warn", "--", "python3", program(0).toString(), url
    };
    return tool.start(ProcessBuilder.Redirect.PIPE, args);
  }

  private static void goOn(Process process) throws Exception {
    try (OutputStream in = process.getOutputStream()) {
      in.write("go on\n".getBytes(StandardCharsets.US_ASCII));
    }
  }

  /** Takes the lock away, and writes with a larger token. */
  private void overtake() throws Exception {
    String shown = tool.run("show", "ledger", "--json").out();
    String token = shown.replaceAll("(?s).*?\"token\": *\"([0-9]+)\".*", "$1");
    assertThat(tool.run("release", "ledger", "--token", token, "--yes").code()).isZero();
    Call next = run();
    next.firstLine();
    goOn(next.process);
    assertThat(next.await()).isEqualTo(new Result(0, "ready\nwritten\n", ""));
  }

  @Test
  void programUnderRun_isRefusedWhenItsTokenIsStale() throws Exception {
    Call first = run();
    first.firstLine();
    overtake();
    goOn(first.process);

    Result result = first.await();
    assertThat(result.out()).as(result.toString()).isEqualTo("ready\nrefused 409\n");
    assertThat(result.code()).isIn(3, 79); // By then the tool may know of the loss, too.
  }

  @Test
  void programOverHold_isRefusedWhenItsTokenIsStale() throws Exception {
    Path out = folder.resolve("python-out");
    ProcessBuilder builder =
        new ProcessBuilder("python3", program(1).toString(), url, Tool.LAUNCHER.toString())
            .redirectOutput(out.toFile())
            .redirectError(folder.resolve("python-err").toFile());
    builder.environment().putAll(tool.environment);
    Process first = builder.start();
    io.fenceline.testkit.Eventually.until(
        Tool.PATIENCE,
        "the program to have its lock",
        () -> Files.readString(out).contains("ready"));
    overtake();
    goOn(first);

    assertThat(first.waitFor()).as(Files.readString(folder.resolve("python-err"))).isEqualTo(3);
    assertThat(Files.readString(out)).isEqualTo("ready\nrefused 409\n");
  }
}
