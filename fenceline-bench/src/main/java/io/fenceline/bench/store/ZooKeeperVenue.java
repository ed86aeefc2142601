package io.fenceline.bench.store;

import io.fenceline.testbed.server.ZooKeeperServer;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;

/** One ZooKeeper server with its own settings; every write is on disk before it is answered. */
final class ZooKeeperVenue implements Venue {
  /** As ZooKeeper's own sample has it, so that sessions may last as long as clients want. */
  private static final Duration TICK = Duration.ofSeconds(2);

  private static final int HEAP_MEGABYTES = 1_024;

  private final ZooKeeperServer server = ZooKeeperServer.start(TICK, HEAP_MEGABYTES);

  @Override
  public String address() {
    return "zookeeper://" + server.address();
  }

  @Override
  public String description() {
    String version = figure("zk_version").split("[-,]", -1)[0];
    return "ZooKeeper " + version + ", one server, forceSync on";
  }

  private String figure(String name) {
    return monitor()
        .lines()
        .filter(line -> line.startsWith(name + "\t"))
        .map(line -> line.substring(line.indexOf('\t') + 1))
        .findFirst()
        .orElse("0");
  }

  /** A server that has just made a hundred thousand nodes may need a while to answer. */
  private String monitor() {
    for (int tries = 1; ; tries++) {
      try {
        return server.fourLetterWord("mntr");
      } catch (UncheckedIOException e) {
        if (tries == 10) {
          throw e;
        }
      }
    }
  }

  @Override
  public Wire count() {
    long before = packets();
    return () -> List.of(new Count("requests", packets() - before));
  }

  private long packets() {
    return (long) Double.parseDouble(figure("zk_packets_received"));
  }

  @Override
  public long memoryBytes() {
    return ProcessFigures.memoryBytes(server.pid());
  }

  @Override
  public long cpuNanos() {
    return ProcessFigures.cpuNanos(server.pid());
  }

  @Override
  public void close() {
    server.close();
  }
}
