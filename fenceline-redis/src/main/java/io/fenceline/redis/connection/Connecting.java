package io.fenceline.redis.connection;

import io.fenceline.StoreUnavailableException;
import io.fenceline.settings.Durations;
import io.fenceline.spi.StoreContext;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waiting, where there is nothing else to do: at the opening and at the closing of a store. */
public final class Connecting {
  private static final long CLOSING_SECONDS = 2;

  /** What each step has at least: a slow start of ours is not the server's fault. */
  private static final int LEAST_PART = 3;

  private Connecting() {}

  /**
   * Waits for something that opening needs.
   *
   * @throws io.fenceline.StoreRefusedException if the server refuses for good
   * @throws StoreUnavailableException if it fails, or takes longer than the connect timeout
   */
  public static <T> T await(CompletableFuture<T> needed, StoreContext context, String server) {
    try {
      return needed.get(context.connectTimeout().toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw Failures.meaning(server, "Connecting", e);
    } catch (TimeoutException e) {
      throw new StoreUnavailableException(
          server,
          "Connecting failed: the server did not answer within %s; check that it runs and can be reached"
              .formatted(Durations.show(context.connectTimeout())),
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreUnavailableException(server, "Connecting was interrupted", e);
    }
  }

  /** The same context, with what is left of the time to connect in. */
  public static StoreContext left(StoreContext context, long beganNanos) {
    Duration left = context.connectTimeout().minusNanos(System.nanoTime() - beganNanos);
    Duration least = Durations.part(context.connectTimeout(), LEAST_PART);
    return new StoreContext(
        context.client(),
        context.time(),
        context.random(),
        left.compareTo(least) > 0 ? left : least,
        context.operationTimeout());
  }

  /** Waits for what opening can do without, for the connect timeout at most. */
  static void awaitIfInTime(List<CompletableFuture<Void>> wanted, StoreContext context) {
    awaitAll(wanted, context.connectTimeout().toNanos());
  }

  /** Waits a little for connections to be closed; those that hang are left to the driver. */
  public static void awaitClosed(List<CompletableFuture<Void>> closing) {
    awaitAll(closing, TimeUnit.SECONDS.toNanos(CLOSING_SECONDS));
  }

  private static void awaitAll(List<CompletableFuture<Void>> all, long nanos) {
    try {
      CompletableFuture.allOf(all.toArray(CompletableFuture<?>[]::new))
          .get(nanos, TimeUnit.NANOSECONDS);
    } catch (ExecutionException | TimeoutException e) {
      // Whoever waits goes on without them.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
