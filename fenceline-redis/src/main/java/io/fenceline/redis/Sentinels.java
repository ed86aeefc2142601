package io.fenceline.redis;

import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import io.lettuce.core.RedisURI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Finds the master that Sentinels name, anew for each connection.
 *
 * <p>They are asked one after the other, each time another one first, so that one whose view is old
 * does not decide for ever. One that is silent is not waited for: after a while the next one is
 * asked as well, and whoever answers first counts. The driver would wait for each of them for a
 * minute.
 */
final class Sentinels {
  private static final long PAUSE_NANOS = 250_000_000;

  private final Driver driver;
  private final RedisURI uri;
  private final Time time;
  private final AtomicInteger turns = new AtomicInteger();

  /**
   * Sentinels that nobody has asked yet.
   *
   * @param uri their addresses, the name of the master, and how to log in to it
   */
  Sentinels(Driver driver, RedisURI uri, Time time) {
    this.driver = driver;
    this.uri = uri;
    this.time = time;
  }

  /** The master's address, with all else that a connection to it needs. */
  CompletableFuture<RedisURI> master() {
    CompletableFuture<RedisURI> found = new CompletableFuture<>();
    List<RedisURI> all = new ArrayList<>(uri.getSentinels());
    Collections.rotate(all, -(turns.getAndIncrement() & Integer.MAX_VALUE));
    new Search(all, found).next();
    return found;
  }

  /** One question, on its way from Sentinel to Sentinel. */
  private final class Search {
    private final CompletableFuture<RedisURI> found;

    // Guarded by this.
    private final ArrayDeque<RedisURI> left;
    private int open;

    Search(List<RedisURI> sentinels, CompletableFuture<RedisURI> found) {
      this.left = new ArrayDeque<>(sentinels);
      this.found = found;
    }

    /** Asks one more, if there is one. */
    void next() {
      RedisURI sentinel;
      synchronized (this) {
        sentinel = found.isDone() ? null : left.poll();
        if (sentinel == null) {
          return;
        }
        open++;
      }
      Time.Timer impatience =
          time.schedule(PAUSE_NANOS, () -> time.lane(Lane.WORK).execute(this::next));
      found.whenComplete((master, failure) -> impatience.cancel());
      driver
          .master(sentinel, uri)
          .whenComplete(
              (master, failure) -> {
                if (master != null) {
                  found.complete(master);
                } else {
                  impatience.cancel();
                  failed(failure);
                }
              });
    }

    private void failed(@Nullable Throwable failure) {
      boolean last;
      synchronized (this) {
        open--;
        last = open == 0 && left.isEmpty();
      }
      if (last) {
        Throwable cause = Failures.unwrapped(failure);
        found.completeExceptionally(
            cause == null ? NoAnswerException.unsent("No Sentinel was asked") : cause);
      } else {
        next();
      }
    }
  }
}
