package io.fenceline.redis.redlock;

import io.fenceline.redis.connection.Driver;
import io.fenceline.redis.connection.Reply;
import io.fenceline.redis.connection.ReplyTimeouts;
import io.fenceline.redis.connection.Server;
import io.fenceline.redis.connection.Topology.Purpose;
import io.fenceline.redis.layout.Answers;
import io.fenceline.redis.layout.Call;
import io.fenceline.redis.layout.Layout;
import io.fenceline.redis.layout.Script;
import io.fenceline.spi.StoreContext;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One of the independent servers of a Redlock.
 *
 * <p>Each connection knows which run of the server it is to: Redis draws a run id whenever it
 * starts. A node that has been restarted, with or without its data, is thereby known as one, since
 * a server that persists every second forgets its last second, and says nothing of it.
 */
final class Node {
  private static final byte[] NO_RUN = Layout.bytes("?");

  final int index;
  final String address;
  private final Server server;
  private final DistinctServers runsOfAll;
  private final Map<RedisAsyncCommands<byte[], byte[]>, byte[]> runs =
      Collections.synchronizedMap(new WeakHashMap<>());
  private volatile @Nullable String lastRun;

  /** Hears what nodes publish: which node, and the name. */
  interface Listener {
    void told(int node, String name);
  }

  Node(
      int index,
      RedisURI uri,
      Driver driver,
      StoreContext context,
      ReplyTimeouts deadlines,
      DistinctServers runsOfAll,
      Listener listener) {
    this.index = index;
    this.runsOfAll = runsOfAll;
    this.address = uri.getHost() + ":" + uri.getPort();
    this.server =
        new Server(
            address,
            driver,
            uri,
            context,
            deadlines,
            (channel, message) -> listener.told(index, Answers.text(message)),
            () -> {},
            connection -> greet(connection, deadlines));
  }

  private CompletionStage<Void> greet(
      StatefulRedisConnection<byte[], byte[]> connection, ReplyTimeouts deadlines) {
    Reply<Void> bounded = deadlines.expect("INFO", address);
    connection
        .async()
        .info("server")
        .whenComplete(
            (info, failure) -> {
              if (failure != null) {
                bounded.completeExceptionally(failure);
                return;
              }
              String run = run(info);
              try {
                note(connection, run);
              } catch (DistinctServers.SameServerException e) {
                bounded.completeExceptionally(e);
                return;
              }
              lastRun = run;
              runs.put(connection.async(), Layout.bytes(run));
              bounded.complete(null);
            });
    return bounded;
  }

  /** The server is this node's, for as long as there is the connection. */
  private void note(StatefulRedisConnection<byte[], byte[]> connection, String run) {
    runsOfAll.connected(this, run);
    AtomicBoolean noted = new AtomicBoolean(true);
    Runnable end =
        () -> {
          if (noted.compareAndSet(true, false)) {
            runsOfAll.disconnected(run);
          }
        };
    connection.addListener(
        new RedisConnectionStateListener() {
          @Override
          public void onRedisDisconnected(RedisChannelHandler<?, ?> lost) {
            end.run();
          }
        });
    if (!connection.isOpen()) {
      end.run(); // It broke before we listened.
    }
  }

  private static String run(String info) {
    return info.lines()
        .filter(line -> line.startsWith("run_id:"))
        .map(line -> line.substring("run_id:".length()).strip())
        .findFirst()
        .orElse("unknown");
  }

  Server server() {
    return server;
  }

  /** The run that was met last; null before the first connection. */
  @Nullable String lastRun() {
    return lastRun;
  }

  /** Calls a script; the arguments are given the run of the server that the call goes to. */
  Reply<List<Object>> call(
      Purpose purpose, Script script, byte[][] keys, Function<byte[], byte[][]> args) {
    return server
        .connection(purpose)
        .call(
            script,
            commands -> new Call(script, keys, args.apply(runs.getOrDefault(commands, NO_RUN))));
  }

  @Override
  public String toString() {
    return address;
  }
}
