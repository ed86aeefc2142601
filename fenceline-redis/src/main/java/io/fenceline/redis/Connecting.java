package io.fenceline.redis;

import io.fenceline.StoreUnavailableException;
import io.fenceline.spi.StoreContext;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waiting, where there is nothing else to do: at the opening and at the closing of a store. */
final class Connecting {
  private static final long CLOSING_SECONDS = 2;

  private Connecting() {}

  /**
   * Waits for something that opening needs.
   *
   * @throws StoreUnavailableException if it fails, or takes longer than the connect timeout
   */
  static <T> T await(CompletableFuture<T> needed, StoreContext context, String server) {
    try {
      return needed.get(context.connectTimeout().toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw Failures.meaning(server, "Connecting", e);
    } catch (TimeoutException e) {
      throw new StoreUnavailableException(server, "Connecting took too long", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreUnavailableException(server, "Connecting was interrupted", e);
    }
  }

  /** Waits a little for connections to be closed; those that hang are left to the driver. */
  static void awaitClosed(List<CompletableFuture<Void>> closing) {
    try {
      CompletableFuture.allOf(closing.toArray(CompletableFuture<?>[]::new))
          .get(CLOSING_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      // The driver's shutdown ends them.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
