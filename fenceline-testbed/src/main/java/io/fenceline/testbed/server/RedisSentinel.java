package io.fenceline.testbed.server;

import io.fenceline.testbed.process.RunAs;
import io.fenceline.testbed.process.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** One Sentinel of a group that watches one master. */
public final class RedisSentinel extends ServerProcess {

  private final RedisServer master;
  private final Duration downAfter;

  private final RedisKind kind;

  RedisSentinel(RedisKind kind, RedisServer master, Duration downAfter) {
    super("sentinel", takePorts(1), false, RunAs.self());
    this.kind = kind;
    this.master = master;
    this.downAfter = downAfter;
  }

  @Override
  protected void prepare() throws IOException {
    String name = RedisSentinels.MASTER_NAME;
    Files.write(
        folder().resolve("sentinel.conf"),
        List.of(
            "bind " + host(),
            "port " + port(),
            "dir " + folder(),
            "sentinel monitor " + name + " " + master.host() + " " + master.port() + " 2",
            "sentinel down-after-milliseconds " + name + " " + downAfter.toMillis(),
            "sentinel failover-timeout " + name + " 5000"));
  }

  @Override
  protected List<String> command() {
    return List.of(kind.server(), folder().resolve("sentinel.conf").toString(), "--sentinel");
  }

  @Override
  protected boolean answers() throws IOException {
    try (RespClient client = RespClient.connect(host(), port())) {
      return "PONG".equals(client.call("PING"));
    }
  }

  /** Runs one command without a driver; see {@link RedisServer#command}. */
  public @Nullable Object command(String... words) {
    try (RespClient client = RespClient.connect(host(), port())) {
      return client.call(words);
    } catch (IOException e) {
      throw new UncheckedIOException(this + ": " + String.join(" ", words), e);
    }
  }

  /** What this Sentinel knows of the master. */
  Map<String, String> masterView() {
    Map<String, String> view = new TreeMap<>();
    if (command("SENTINEL", "MASTER", RedisSentinels.MASTER_NAME) instanceof List<?> pairs) {
      for (int i = 0; i + 1 < pairs.size(); i += 2) {
        view.put(String.valueOf(pairs.get(i)), String.valueOf(pairs.get(i + 1)));
      }
    }
    return view;
  }
}
