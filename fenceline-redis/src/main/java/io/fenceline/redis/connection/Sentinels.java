package io.fenceline.redis.connection;

import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import io.lettuce.core.RedisURI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Finds the master that Sentinels name, anew for each connection.
 *
 * <p>All of them are asked at once, and what most of them say counts: one that is cut off goes on
 * to name the old master, and one whose address was given away names another's. Nobody waits for
 * one that is silent: after a while, what was said by then counts. The driver would wait for each
 * of them for a minute.
 */
final class Sentinels {
  private static final long PAUSE_NANOS = 250_000_000;

  private final Driver driver;
  private final RedisURI uri;
  private final Time time;
  private final Runnable whenMoved;

  /** What was believed last. Guarded by this. */
  private @Nullable RedisURI last;

  /**
   * Sentinels that nobody has asked yet.
   *
   * @param uri their addresses, the name of the master, and how to log in to it
   * @param whenMoved told when a majority of them names another master than was believed before
   */
  Sentinels(Driver driver, RedisURI uri, Time time, Runnable whenMoved) {
    this.driver = driver;
    this.uri = uri;
    this.time = time;
    this.whenMoved = whenMoved;
  }

  /** Whether nobody has heard of another master since this one was named. */
  synchronized boolean isLast(RedisURI master) {
    return last == null || isSame(last, master);
  }

  /**
   * A master that is used from now on. Where there is no majority, what is said may change with
   * each question: then nobody who is connected is disturbed.
   */
  private void believe(RedisURI master, boolean clear) {
    boolean moved;
    synchronized (this) {
      moved = clear && !isLast(master);
      last = master;
    }
    if (moved) {
      whenMoved.run();
    }
  }

  private static boolean isSame(RedisURI one, RedisURI other) {
    return one.getHost().equals(other.getHost()) && one.getPort() == other.getPort();
  }

  /** The master's address, with all else that a connection to it needs. */
  CompletableFuture<RedisURI> master() {
    return new Poll(uri.getSentinels()).start();
  }

  /** One question to all of them. */
  private final class Poll {
    private final CompletableFuture<RedisURI> found = new CompletableFuture<>();
    private final List<RedisURI> asked;

    // Guarded by this.
    private final List<RedisURI> answers = new ArrayList<>();
    private Throwable failure = NoAnswerException.unsent("No Sentinel was asked");
    private int open;
    private boolean patient = true;

    Poll(List<RedisURI> sentinels) {
      this.asked = List.copyOf(sentinels);
      this.open = asked.size();
    }

    CompletableFuture<RedisURI> start() {
      Time.Timer impatience =
          time.schedule(PAUSE_NANOS, () -> time.lane(Lane.WORK).execute(this::patienceIsOver));
      found.whenComplete((master, thrown) -> impatience.cancel());
      for (RedisURI sentinel : asked) {
        driver
            .master(sentinel, uri)
            .whenComplete((master, thrown) -> heard(master, Failures.unwrapped(thrown)));
      }
      if (asked.isEmpty()) {
        found.completeExceptionally(failure);
      }
      return found;
    }

    private void heard(@Nullable RedisURI master, @Nullable Throwable thrown) {
      synchronized (this) {
        open--;
        if (master != null) {
          answers.add(master);
        } else if (thrown != null) {
          failure = thrown;
        }
      }
      decide();
    }

    private void patienceIsOver() {
      synchronized (this) {
        patient = false;
      }
      decide();
    }

    private void decide() {
      RedisURI most;
      Throwable why;
      boolean clear;
      synchronized (this) {
        most = mostSaid();
        why = failure;
        clear = most != null && 2 * votes(most) > asked.size();
        if (!clear && open > 0 && (patient || most == null)) {
          return;
        }
      }
      if (most == null) {
        found.completeExceptionally(why);
      } else if (!found.isDone()) {
        believe(most, clear);
        found.complete(most);
      }
    }

    /** What most of them have said so far; the first of that where they disagree evenly. */
    private @Nullable RedisURI mostSaid() {
      RedisURI most = null;
      for (RedisURI answer : answers) {
        if (most == null || votes(answer) > votes(most)) {
          most = answer;
        }
      }
      return most;
    }

    private long votes(RedisURI master) {
      return answers.stream().filter(answer -> isSame(answer, master)).count();
    }
  }
}
