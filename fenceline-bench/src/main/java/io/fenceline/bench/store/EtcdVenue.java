package io.fenceline.bench.store;

import io.fenceline.testbed.server.EtcdServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

/** One etcd server with its own settings; every write is on disk before it is answered. */
final class EtcdVenue implements Venue {
  private final EtcdServer server = EtcdServer.start();

  @Override
  public String address() {
    return "etcd://" + server.address();
  }

  @Override
  public String description() {
    String version = get("/version").replaceAll(".*\"etcdserver\":\"([^\"]*)\".*", "$1");
    return "etcd " + version + ", one server, fsync on";
  }

  @Override
  public Wire count() {
    long before = messages();
    return () -> List.of(new Count("requests", messages() - before));
  }

  /** Every message of a client: an RPC has one, a stream as many as are sent. */
  private long messages() {
    return (long) metrics("grpc_server_msg_received_total").sum();
  }

  private java.util.stream.DoubleStream metrics(String name) {
    Stream<String> lines = get("/metrics").lines();
    return lines
        .filter(line -> line.startsWith(name))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)));
  }

  private String get(String path) {
    try (InputStream in = URI.create(server.endpoint() + path).toURL().openStream()) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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
