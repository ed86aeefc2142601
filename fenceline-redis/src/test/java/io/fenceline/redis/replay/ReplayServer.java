package io.fenceline.redis.replay;

import io.fenceline.redis.layout.Answers;
import io.fenceline.redis.layout.Call;
import io.fenceline.redis.layout.Layout;
import io.fenceline.redis.layout.Script;
import io.fenceline.testbed.server.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

/** A server for replays: its clock is that of the recording, its scripts may be changed ones. */
public final class ReplayServer implements AutoCloseable {
  private static final long EXACT_ENOUGH_NANOS = 2_000_000;

  private final RedisServer redis = RedisServer.builder().fakeTime().start();
  private final RedisClient client = RedisClient.create(redis.uri());
  private final StatefulRedisConnection<byte[], byte[]> connection =
      client.connect(ByteArrayCodec.INSTANCE);
  private final RecordedRequest.Dialect dialect;
  private final Map<Script, byte[]> hashes = new EnumMap<>(Script.class);
  private final byte[] snapshot;
  private final long startNanos = System.nanoTime();
  private long aheadNanos;

  /**
   * One row of a snapshot.
   *
   * @param letter h holds, k keeps closed, w waits, t is granted in the first round of a Redlock
   * @param number 0 for a waiter
   * @param ends in milliseconds of the server's clock
   */
  record Row(
      String letter, String owner, String kind, long count, long total, long number, long ends) {}

  /** A name, as it is at a moment. */
  record Snapshot(long now, long endlessKeys, long sum, List<Row> rows) {
    List<Row> alive(String letters) {
      return rows.stream().filter(row -> letters.contains(row.letter) && row.ends > now).toList();
    }
  }

  /**
   * An empty server.
   *
   * @param change what is done to the text of each script before it is loaded
   */
  public ReplayServer(RecordedRequest.Dialect dialect, UnaryOperator<String> change) {
    this.dialect = dialect;
    for (Script script : Script.values()) {
      String body = new String(script.body(), StandardCharsets.US_ASCII);
      hashes.put(script, load(change.apply(body)));
    }
    this.snapshot = load(dialect.snapshot());
  }

  private byte[] load(String body) {
    byte[] bytes = body.getBytes(StandardCharsets.US_ASCII);
    connection.sync().scriptLoad(bytes);
    return HexFormat.of().formatHex(Script.sha1(bytes)).getBytes(StandardCharsets.US_ASCII);
  }

  void empty() {
    connection.sync().flushall();
    List<String> start = dialect.start();
    if (!start.isEmpty()) {
      connection
          .sync()
          .hset(Layout.bytes(start.get(0)), Layout.bytes(start.get(1)), Layout.bytes(start.get(2)));
    }
  }

  /** The server's time, as far as it was set here. */
  long nanos() {
    return System.nanoTime() - startNanos + aheadNanos;
  }

  /** Lets the server's clock go on to a time, unless it is later already. */
  void goOnTo(long nanos) {
    long missing = nanos - nanos();
    if (missing > EXACT_ENOUGH_NANOS) {
      aheadNanos += missing;
      redis.clockOffset(Duration.ofNanos(aheadNanos));
    }
  }

  /** Sends a request, then looks at names; errors of the request are as good as an answer. */
  List<Snapshot> send(Call call, List<String> names) {
    List<CompletableFuture<List<Object>>> looks = new ArrayList<>();
    CompletableFuture<List<Object>> answer =
        run(hashes.get(call.script()), call.keys(), call.args());
    for (String name : names) {
      looks.add(run(snapshot, dialect.keys(name)));
    }
    answer.exceptionally(failure -> List.of()).join();
    return looks.stream().map(look -> parse(look.join())).toList();
  }

  /** Lets the scripts do what time has brought to a name, and looks at it. */
  Snapshot look(String name) {
    return send(dialect.look(name), List.of(name)).get(0);
  }

  private CompletableFuture<List<Object>> run(byte[] hash, byte[][] keys, byte[]... args) {
    CommandArgs<byte[], byte[]> all = new CommandArgs<>(ByteArrayCodec.INSTANCE);
    all.add(hash).add(keys.length).addKeys(keys);
    for (byte[] arg : args) {
      all.add(arg);
    }
    return connection
        .async()
        .dispatch(
            CommandType.EVALSHA,
            new NestedMultiOutput<byte[], byte[]>(ByteArrayCodec.INSTANCE),
            all)
        .toCompletableFuture();
  }

  private static Snapshot parse(List<Object> answer) {
    List<Row> rows = new ArrayList<>();
    for (Object each : answer.subList(3, answer.size())) {
      List<?> row = (List<?>) each;
      rows.add(
          new Row(
              Answers.text(row.get(0)),
              HexFormat.of().formatHex((byte[]) row.get(1)),
              Answers.text(row.get(2)),
              Answers.number(row.get(3)),
              Answers.number(row.get(4)),
              Answers.number(row.get(5)),
              Answers.number(row.get(6))));
    }
    return new Snapshot(
        Answers.number(answer.get(0)),
        Answers.number(answer.get(1)),
        Answers.number(answer.get(2)),
        rows);
  }

  @Override
  public void close() {
    connection.close();
    client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    redis.close();
  }
}
