package io.fenceline.bench;

import io.fenceline.FencingToken;
import io.fenceline.redis.RedisFence;
import io.fenceline.testbed.server.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * What a fence costs in Redis: guarded SETs beside plain ones, in interleaved rounds of one run, on
 * a server of its own.
 *
 * <p>Every writer has a connection and waits for each answer, as writers under a lock do. The
 * guarded ones are measured twice: with one token for many writes, as a holder does, and with a new
 * token for each write, which also has to be remembered.
 *
 * <pre>
 * java -cp … io.fenceline.bench.GuardedSet [writers] [rounds] [milliseconds a round]
 * </pre>
 */
public final class GuardedSet {
  private static final int KEYS = 1_000;
  private static final int WARM_UP = 20;
  private static final String VALUE = "x".repeat(64);

  /** One write of a writer. */
  private interface Write {
    void run(int writer, long count);
  }

  private final int writers;
  private final long roundNanos;
  private final ExecutorService threads;

  private GuardedSet(int writers, long roundNanos, ExecutorService threads) {
    this.writers = writers;
    this.roundNanos = roundNanos;
    this.threads = threads;
  }

  /** Runs it. */
  public static void main(String[] arguments) throws Exception {
    int rounds = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 101;
    long millis = arguments.length > 2 ? Long.parseLong(arguments[2]) : 50;
    List<Integer> crews =
        arguments.length > 0 ? List.of(Integer.parseInt(arguments[0])) : List.of(1, 8);
    try (RedisServer redis = RedisServer.start()) {
      for (int writers : crews) {
        redis.command("FLUSHALL"); // Tokens start again.
        measure(redis, writers, rounds, millis);
      }
    }
  }

  private static void measure(RedisServer redis, int writers, int rounds, long millis)
      throws Exception {
    RedisClient client = RedisClient.create(redis.uri());
    ExecutorService threads = Executors.newFixedThreadPool(writers);
    try {
      List<StatefulRedisConnection<String, String>> connections = new ArrayList<>();
      List<RedisFence<String, String>> fences = new ArrayList<>();
      for (int i = 0; i < writers; i++) {
        connections.add(client.connect());
        fences.add(RedisFence.over(connections.get(i)));
      }
      long[] lastTokens = new long[writers]; // Each writer has keys of its own.
      FencingToken held = FencingToken.exclusive(1L << 50);
      List<Write> ways =
          List.of(
              (w, n) -> connections.get(w).sync().set(key("plain", w, n), VALUE),
              (w, n) -> fences.get(w).set(key("held", w, n), VALUE, held),
              (w, n) ->
                  fences
                      .get(w)
                      .set(key("new", w, n), VALUE, FencingToken.exclusive(++lastTokens[w])));
      GuardedSet run = new GuardedSet(writers, millis * 1_000_000, threads);
      double[][] rates = new double[ways.size()][rounds];
      for (int round = -WARM_UP; round < rounds; round++) {
        for (int way = 0; way < ways.size(); way++) {
          double rate = run.round(ways.get(way));
          if (round >= 0) {
            rates[way][round] = rate;
          }
        }
      }
      report(writers, rates);
    } finally {
      threads.shutdownNow();
      client.shutdown();
    }
  }

  private static String key(String kind, int writer, long count) {
    return kind + ":" + writer + ":" + count % KEYS;
  }

  /** Writes a second, over all writers. */
  private double round(Write write) throws InterruptedException, ExecutionException {
    CountDownLatch ready = new CountDownLatch(writers);
    List<Future<Long>> counts = new ArrayList<>();
    long[] start = new long[writers];
    long[] end = new long[writers];
    for (int i = 0; i < writers; i++) {
      int writer = i;
      counts.add(
          threads.submit(
              () -> {
                ready.countDown();
                ready.await();
                start[writer] = System.nanoTime();
                long count = 0;
                while (System.nanoTime() - start[writer] < roundNanos) {
                  write.run(writer, ++count);
                }
                end[writer] = System.nanoTime();
                return count;
              }));
    }
    double perSecond = 0;
    for (int i = 0; i < writers; i++) {
      perSecond += counts.get(i).get() * 1e9 / (end[i] - start[i]);
    }
    return perSecond;
  }

  private static void report(int writers, double[][] rates) {
    System.out.printf(
        "%d writer(s): plain SET %,.0f/s; guarded, one token %,.0f/s (%.2f of plain); guarded, a new"
            + " token each %,.0f/s (%.2f of plain)%n",
        writers,
        median(rates[0]),
        median(rates[1]),
        median(ratios(rates[1], rates[0])),
        median(rates[2]),
        median(ratios(rates[2], rates[0])));
  }

  /** Round by round: what disturbs the machine disturbs neighbours alike. */
  private static double[] ratios(double[] rates, double[] plain) {
    double[] ratios = new double[rates.length];
    Arrays.setAll(ratios, round -> rates[round] / plain[round]);
    return ratios;
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
