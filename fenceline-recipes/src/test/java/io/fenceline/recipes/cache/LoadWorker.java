package io.fenceline.recipes.cache;

import io.fenceline.Fenceline;
import io.fenceline.recipes.once.Codec;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;

/**
 * A process whose threads ask for a key together.
 *
 * <p>Prints {@code ready}, and for each line that it is sent {@code got VALUE} for each thread. Its
 * loader counts the loads in Redis; the number is the value. A loader whose process is called
 * {@code slow} prints {@code loads}, and waits for a line before it returns.
 *
 * <p>Arguments: where locks and values are, what it is called, how many threads, the lease in
 * milliseconds.
 */
final class LoadWorker {
  private LoadWorker() {}

  public static void main(String[] arguments) throws Exception {
    String uri = arguments[0];
    boolean isSlow = arguments[1].equals("slow");
    int threads = Integer.parseInt(arguments[2]);
    RedisClient redis = RedisClient.create(uri);
    RedisCommands<String, String> commands = redis.connect().sync();
    Fenceline fenceline = Fenceline.connect(uri);
    LoadOnceCache<String> cache =
        LoadOnceCache.of(
                fenceline, "workers", Codec.text(), Duration.ofMinutes(10), CacheFallback.FAIL)
            .shared(RedisTier.over(redis.connect(ByteArrayCodec.INSTANCE)))
            .lease(Duration.ofMillis(Long.parseLong(arguments[3])))
            .waiting(Duration.ofMinutes(2));
    System.out.println("ready");
    while (System.in.read() >= 0) {
      List<FutureTask<String>> tasks = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        tasks.add(
            new FutureTask<>(
                () ->
                    cache.get(
                        "cold",
                        key -> {
                          String number = Long.toString(commands.incr("loads:" + key));
                          if (isSlow) {
                            System.out.println("loads " + number);
                            int goOn = System.in.read();
                          }
                          return number;
                        })));
      }
      tasks.forEach(task -> new Thread(task).start());
      for (FutureTask<String> task : tasks) {
        System.out.println("got " + task.get());
      }
    }
    System.exit(0); // The driver's threads are of no interest.
  }
}
