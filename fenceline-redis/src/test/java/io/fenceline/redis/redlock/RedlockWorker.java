package io.fenceline.redis.redlock;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.StoreUnavailableException;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A process with two clients that lock and write, again and again.
 *
 * <p>Arguments: URI of the Redlock, URI of the server that is guarded, how many acquisitions, how
 * many names, lease in milliseconds. Prints for each acquisition {@code hold name token acquired
 * ended valid accepted}, with times in nanoseconds of the machine's monotonic clock, and in the end
 * {@code done failures}.
 */
final class RedlockWorker {
  /** What a guarded resource does: it refuses a token below the largest that it has accepted. */
  private static final String GUARDED_WRITE =
      "local last = tonumber(redis.call('GET', KEYS[1]) or '0') "
          + "if tonumber(ARGV[1]) < last then return 0 end "
          + "redis.call('SET', KEYS[1], ARGV[1]) redis.call('RPUSH', KEYS[1] .. ':log', ARGV[1]) "
          + "return 1";

  private RedlockWorker() {}

  public static void main(String[] args) throws Exception {
    int each = Integer.parseInt(args[2]) / 2;
    int names = Integer.parseInt(args[3]);
    Duration lease = Duration.ofMillis(Long.parseLong(args[4]));
    AtomicInteger failures = new AtomicInteger();
    RedisClient guarded = RedisClient.create(args[1]);
    try (StatefulRedisConnection<String, String> resource = guarded.connect()) {
      Thread one = new Thread(() -> work(args[0], resource, each, names, lease, failures));
      Thread two = new Thread(() -> work(args[0], resource, each, names, lease, failures));
      one.start();
      two.start();
      one.join();
      two.join();
    }
    System.out.println("done " + failures);
    System.exit(0);
  }

  private static void work(
      String uri,
      StatefulRedisConnection<String, String> resource,
      int count,
      int names,
      Duration lease,
      AtomicInteger failures) {
    LockOptions options = LockOptions.defaults().lease(lease);
    try (Fenceline client = Fenceline.builder().store(uri).defaultOptions(options).connect()) {
      for (int done = 0; done < count; ) {
        String name = "storm-" + (int) (Math.random() * names);
        try (Hold hold = client.lock(name).acquire(Duration.ofSeconds(20))) {
          long acquired = System.nanoTime();
          Long accepted =
              resource
                  .sync()
                  .eval(
                      GUARDED_WRITE,
                      ScriptOutputType.INTEGER,
                      new String[] {name},
                      Long.toString(hold.token()));
          boolean valid = hold.isValid();
          long ended = System.nanoTime();
          System.out.println(
              "hold "
                  + name
                  + " "
                  + hold.token()
                  + " "
                  + acquired
                  + " "
                  + ended
                  + " "
                  + valid
                  + " "
                  + accepted);
          done++;
        } catch (StoreUnavailableException | io.fenceline.LockTimeoutException e) {
          failures.incrementAndGet(); // While too few nodes vote.
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
