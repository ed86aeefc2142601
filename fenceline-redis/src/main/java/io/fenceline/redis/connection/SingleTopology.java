package io.fenceline.redis.connection;

import io.fenceline.redis.layout.Call;
import io.fenceline.redis.layout.Layout;
import io.fenceline.spi.StoreContext;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** One server, or whoever Sentinel says is the master: each new connection asks anew. */
public final class SingleTopology implements Topology {
  private static final int SCAN_COUNT = 1000;

  /** All are kept until the last is found, and a server that is broken may never be done. */
  private static final int MOST_KEYS = 1 << 20;

  private final Server server;
  private final StoreContext context;
  private final String channel;
  private final byte[] channelArgument;

  public SingleTopology(Server server, StoreContext context, String clientId) {
    this.server = server;
    this.context = context;
    this.channel = Layout.channel(clientId);
    this.channelArgument = Layout.bytes("p" + channel);
  }

  @Override
  public void connect() {
    Connecting.await(server.connect(), context, server.name);
  }

  @Override
  public CompletableFuture<List<Object>> call(Purpose purpose, int bucket, Call call) {
    return server.connection(purpose).call(call);
  }

  @Override
  public boolean mayLackScripts() {
    return server.connection(Purpose.CLAIMS).lackedScript();
  }

  @Override
  public CompletableFuture<List<Object>> callBatched(int bucket, Call call) {
    return server.callBatched(call);
  }

  @Override
  public CompletableFuture<List<Object>> callAndWait(
      int bucket, Call call, ReplicaWait replicaWait) {
    return server.callAndWait(call, replicaWait, false);
  }

  @Override
  public boolean mixesBuckets() {
    return true;
  }

  @Override
  public byte[] channel(int bucket) {
    return channelArgument;
  }

  @Override
  public CompletableFuture<Void> listen(int bucket) {
    return server.subscriber().listen(channel, false);
  }

  @Override
  public CompletableFuture<List<byte[]>> scan(byte[] pattern) {
    return scan(server, pattern);
  }

  static CompletableFuture<List<byte[]>> scan(Server server, byte[] pattern) {
    List<byte[]> found = new ArrayList<>();
    return scanOn(server, pattern, ScanCursor.INITIAL, found).thenApply(done -> found);
  }

  private static CompletableFuture<Void> scanOn(
      Server server, byte[] pattern, ScanCursor from, List<byte[]> found) {
    ScanArgs args = ScanArgs.Builder.limit(SCAN_COUNT).match(pattern);
    CompletableFuture<KeyScanCursor<byte[]>> page =
        server.connection(Purpose.CLAIMS).run("SCAN", commands -> commands.scan(from, args));
    return page.thenCompose(
        cursor -> {
          found.addAll(cursor.getKeys());
          if (found.size() > MOST_KEYS) {
            return CompletableFuture.failedFuture(
                new IllegalStateException(
                    server.name
                        + " has more than "
                        + MOST_KEYS
                        + " matching names; ask for a longer prefix"));
          }
          return cursor.isFinished()
              ? CompletableFuture.completedFuture(null)
              : scanOn(server, pattern, cursor, found);
        });
  }

  @Override
  public <T> CompletableFuture<Map<String, T>> atEach(String what, Connection.Request<T> request) {
    return server
        .connection(Purpose.CLAIMS)
        .run(what, request)
        .thenApply(answer -> Map.of(server.name, answer));
  }

  @Override
  public void close() {
    Connecting.awaitClosed(server.close());
  }
}
