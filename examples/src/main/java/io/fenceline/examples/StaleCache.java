package io.fenceline.examples;

import io.fenceline.Fenceline;
import io.fenceline.recipes.cache.CacheFallback;
import io.fenceline.recipes.cache.LoadOnceCache;
import io.fenceline.recipes.cache.MemoryTier;
import io.fenceline.recipes.once.Codec;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;

/** What does a loader leave in the cache that was overtaken while it loaded? */
public final class StaleCache {
  private StaleCache() {}

  /** Runs it. */
  public static void main(String[] arguments) throws Exception {
    run(System.out);
  }

  static void run(PrintStream out) throws Exception {
    String locks = "memory:stale-cache";
    try (Fenceline a = Fenceline.connect(locks);
        Fenceline b = Fenceline.connect(locks)) {
      Map<String, String> open = new ConcurrentHashMap<>();
      MemoryTier tier = MemoryTier.of(b);
      CountDownLatch loading = new CountDownLatch(1);
      CountDownLatch goOn = new CountDownLatch(1);
      LoadOnceCache<String> prices = prices(a, tier);
      FutureTask<String> slow =
          new FutureTask<>(
              () ->
                  prices.get(
                      "EUR",
                      key -> {
                        String old = "old price"; // Read from the source, and then it is slow.
                        loading.countDown();
                        goOn.await();
                        open.put(key, old);
                        return old;
                      }));
      new Thread(slow).start();
      loading.await();
      out.println("A has read the old price, and is slow.");

      a.close(); // As a lease that has run out: A's lock is free.
      String price =
          prices(b, tier)
              .get(
                  "EUR",
                  key -> {
                    open.put(key, "new price");
                    return "new price";
                  });
      out.println("B gets the lock, loads, and has the " + price + ".");

      goOn.countDown();
      out.println("A goes on, and gets the " + slow.get() + ".");
      out.println("Without the token, the shared cache has the " + open.get("EUR") + ".");
      String shared = prices(b, tier).get("EUR", key -> "third load");
      out.println("With the token, A's write was refused: it has the " + shared + ".");
    }
  }

  private static LoadOnceCache<String> prices(Fenceline fenceline, MemoryTier tier) {
    return LoadOnceCache.of(
            fenceline, "prices", Codec.text(), Duration.ofMinutes(5), CacheFallback.FAIL)
        .shared(tier);
  }
}
