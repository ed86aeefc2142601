package io.fenceline.recipes.once;

import io.fenceline.Fenceline;
import io.fenceline.LockLostException;
import io.fenceline.recipes.once.OnceRefusedException.Reason;
import io.fenceline.testkit.Eventually;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * A process that asks for every key twice, with both answers to a worker that vanished, in an order
 * of its own, and may be killed at any moment.
 *
 * <p>Prints {@code ready}, waits for a line, and prints {@code asks KEY}, {@code works KEY NANOS}
 * with the effect had and the record not written for another {@link #PAUSE}, {@code doubt KEY},
 * {@code refused KEY}, {@code late KEY} if a lease may have ended while it worked, {@code slow KEY
 * MILLIS}, {@code done}. Times are of the monotonic clock, which the processes of a machine share.
 *
 * <p>Arguments: where locks, effects and records are, how many keys, the lease in milliseconds, the
 * seed.
 */
final class OnceWorker {
  /** How long it takes its time in the middle of some keys, to be killed there. */
  static final Duration PAUSE = Duration.ofMillis(1_500);

  private OnceWorker() {}

  /** When the lease of the work that it is at ends, if it is not renewed. */
  private static long deadline = Long.MAX_VALUE;

  /** Asks for a key. */
  private interface Asked {
    String of(String key, boolean slowly) throws Exception;
  }

  public static void main(String[] arguments) throws Exception {
    String uri = arguments[0];
    int keys = Integer.parseInt(arguments[1]);
    Duration lease = Duration.ofMillis(Long.parseLong(arguments[2]));
    Random random = new Random(Long.parseLong(arguments[3]));
    // A busy machine may take longer than a client waits for its first connection.
    try (Fenceline fenceline =
        Eventually.until(
            Duration.ofMinutes(1), "the store", () -> Fenceline.connect(uri), client -> true)) {
      Map<Vanished, Asked> asked = new EnumMap<>(Vanished.class);
      for (Vanished vanished : Vanished.values()) {
        asked.put(
            vanished,
            uri.startsWith("redis")
                ? redis(fenceline, uri, vanished, lease)
                : sql(fenceline, uri, vanished, lease));
      }
      ask(asked, keys, lease, random);
    }
    System.out.println("done");
    System.exit(0); // The driver's threads are of no interest.
  }

  private static Asked redis(Fenceline fenceline, String uri, Vanished vanished, Duration lease) {
    RedisCommands<String, String> redis = RedisClient.create(uri).connect().sync();
    Once<Work, String> once =
        Once.of(fenceline, "killed", Kind.redis(uri), Codec.text(), vanished).lease(lease);
    return (key, slowly) ->
        once.call(
            key,
            "request of " + key,
            work -> {
              begins(work);
              redis.rpush("effects:" + key, Long.toString(work.token()));
              pauseIf(slowly, key);
              return "result of " + key;
            });
  }

  private static Asked sql(Fenceline fenceline, String uri, Vanished vanished, Duration lease) {
    String url = uri.startsWith("sqlite:") ? Kind.jdbc(uri) : uri;
    SqlRecords records = SqlRecords.over(new SmallPool(url));
    Once<SqlWork, String> once =
        Once.of(fenceline, "killed", records, Codec.text(), vanished).lease(lease);
    return (key, slowly) ->
        once.call(
            key,
            "request of " + key,
            work -> {
              begins(work);
              try (PreparedStatement statement =
                  work.connection().prepareStatement("INSERT INTO had VALUES (?, ?)")) {
                statement.setString(1, key);
                statement.setLong(2, work.token());
                statement.executeUpdate();
              }
              pauseIf(slowly, key);
              return "result of " + key;
            });
  }

  private static void begins(Work work) {
    deadline = System.nanoTime() + work.remaining().toNanos();
  }

  private static void pauseIf(boolean slowly, String key) {
    if (slowly) {
      long from = System.nanoTime();
      System.out.println("works " + key + " " + from);
      // In a loop: whoever granted the lock may have left a permit behind, which ends a park at
      // once.
      long end = from + PAUSE.toNanos();
      for (long left = PAUSE.toNanos(); left > 0; left = end - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
    }
  }

  private static void ask(Map<Vanished, Asked> asked, int keys, Duration lease, Random random)
      throws Exception {
    List<String> order = new ArrayList<>();
    for (Vanished vanished : asked.keySet()) {
      for (int i = 0; i < 2 * keys; i++) {
        order.add(vanished + "-" + i % keys);
      }
    }
    Collections.shuffle(order, random);
    int slowOneIn = Math.max(30, keys / 33);
    System.out.println("ready");
    int go = System.in.read();
    for (String key : order) {
      System.out.println("asks " + key);
      long from = System.nanoTime();
      deadline = Long.MAX_VALUE;
      try {
        int number = Integer.parseInt(key.substring(key.indexOf('-') + 1));
        Vanished vanished = Vanished.valueOf(key.substring(0, key.indexOf('-')));
        String result = asked.get(vanished).of(key, number % slowOneIn == 0);
        if (!result.equals("result of " + key)) {
          System.out.println("wrong " + key + " " + result);
        }
      } catch (OnceRefusedException e) {
        System.out.println((e.reason() == Reason.IN_DOUBT ? "doubt " : "refused ") + key);
      } catch (LockLostException e) {
        System.out.println("late " + key); // Before the work began.
      }
      long now = System.nanoTime();
      if (now > deadline) {
        System.out.println("late " + key);
      }
      Duration took = Duration.ofNanos(now - from);
      if (took.compareTo(lease.multipliedBy(2)) > 0) {
        System.out.println("slow " + key + " " + took.toMillis());
      }
    }
  }
}
