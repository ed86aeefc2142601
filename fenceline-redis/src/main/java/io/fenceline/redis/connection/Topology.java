package io.fenceline.redis.connection;

import io.fenceline.redis.layout.Call;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;

/** Which servers there are, and which of them has a bucket. */
public interface Topology {

  /** What a call is for: work of one kind never waits behind work of another. */
  enum Purpose {
    CLAIMS,
    RENEWALS
  }

  /** Waits until the servers answer; blocks for the connect timeout at most. */
  void connect();

  /** Calls a script at the server that has the bucket. */
  CompletableFuture<List<Object>> call(Purpose purpose, int bucket, Call call);

  /**
   * Calls a short script of the fast path at the server that has the bucket; together with others,
   * as one script, if there are many and the server has all buckets.
   */
  default CompletableFuture<List<Object>> callBatched(int bucket, Call call) {
    return call(Purpose.CLAIMS, bucket, call);
  }

  /**
   * Calls a script on a connection that nobody else uses meanwhile, then waits for replicas.
   *
   * @return the script's answer, and after it the number of replicas that have its writes
   */
  CompletableFuture<List<Object>> callAndWait(int bucket, Call call, ReplicaWait replicaWait);

  /** Whether a server may not know our scripts: it has not known one of them, or was not asked. */
  default boolean mayLackScripts() {
    return true;
  }

  /** Whether one call may have keys of several buckets. */
  boolean mixesBuckets();

  /** The channel for messages about a bucket, as {@code claim.lua} wants it. */
  byte[] channel(int bucket);

  /**
   * Makes sure that the channel of a bucket is listened to, by a connection that is not silently
   * dead; called again and again by whoever waits for messages.
   *
   * @return completes when it is; already complete if it was before
   */
  CompletableFuture<Void> listen(int bucket);

  /** All keys on all servers that match a pattern, in no order, some of them twice. */
  CompletableFuture<List<byte[]>> scan(byte[] pattern);

  /** A bucket whose server is connected, the first one if possible. */
  default int reachableBucket() {
    return 0;
  }

  /** The servers that take writes and are not connected. */
  default List<String> unreachable() {
    return List.of();
  }

  /**
   * Runs a request at every server that takes writes and is connected; the answers are by the
   * server's name.
   */
  <T> CompletableFuture<Map<String, T>> atEach(String what, Connection.Request<T> request);

  /** Tries what is needed only while slots migrate; harmless. */
  default CompletableFuture<Void> tryAsking() {
    return CompletableFuture.completedFuture(null);
  }

  /** Ends all connections. */
  void close();

  /** Hears messages: the channel's and the message's bytes. */
  interface Listener extends BiConsumer<byte[], byte[]> {}
}
