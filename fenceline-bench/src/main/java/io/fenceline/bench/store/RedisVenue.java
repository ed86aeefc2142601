package io.fenceline.bench.store;

import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testbed.server.RespClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** One Redis server without persistence. */
final class RedisVenue implements Venue {
  private final RedisServer server = RedisServer.start();

  @Override
  public String address() {
    return server.uri();
  }

  @Override
  public String description() {
    return "Redis " + server.info("redis_version") + ", one server, no persistence";
  }

  /** By MONITOR, which tells commands of scripts from those of clients. */
  @Override
  public Wire count() {
    try {
      return new Monitor(RespClient.connect(server.host(), server.port()), server);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public long memoryBytes() {
    return Long.parseLong(server.info("used_memory"));
  }

  @Override
  public long cpuNanos() {
    return ProcessFigures.cpuNanos(server.pid());
  }

  @Override
  public void close() {
    server.close();
  }

  private static final class Monitor implements Wire {
    private static final String LAST = "end-of-count";
    private static final Duration LONGEST_QUIET = Duration.ofMinutes(1);

    private final RedisServer server;
    private final AtomicLong commands = new AtomicLong();
    private final AtomicLong inScripts = new AtomicLong();
    private final Thread reader;

    Monitor(RespClient client, RedisServer server) throws IOException {
      this.server = server;
      client.call("MONITOR");
      client.readTimeout(LONGEST_QUIET);
      this.reader = new Thread(() -> read(client), "monitor");
      reader.setDaemon(true);
      reader.start();
    }

    private void read(RespClient client) {
      try (client) {
        while (true) {
          String line = String.valueOf(client.read()); // 1700000000.123456 [0 lua] "get" "key"
          if (line.contains(LAST)) {
            return;
          }
          if (line.contains(" lua] ")) {
            inScripts.incrementAndGet();
          } else if (line.contains("] \"")) {
            commands.incrementAndGet();
          }
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public List<Count> stop() {
      server.command("ECHO", LAST);
      try {
        reader.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      return List.of(
          new Count("commands", commands.get()), new Count("commands in scripts", inScripts.get()));
    }
  }
}
