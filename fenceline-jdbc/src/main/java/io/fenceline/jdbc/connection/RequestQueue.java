package io.fenceline.jdbc.connection;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Requests that wait for a connection: handed to other threads in the order in which they came, as
 * many at once as there are connections.
 */
final class RequestQueue implements Executor {
  /*
   * Whoever adds a request starts a thread for it unless as many as may run do so, and each of those
   * looks for another request before it ends, under the same lock: none is left behind.
   */
  private final Executor threads;
  private final int most;

  // Guarded by this.
  private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
  private int running;

  RequestQueue(Executor threads, int most) {
    this.threads = threads;
    this.most = most;
  }

  @Override
  public void execute(Runnable request) {
    synchronized (this) {
      waiting.add(request);
      if (running == most) {
        return;
      }
      running++;
    }
    threads.execute(this::work);
  }

  private void work() {
    Runnable request;
    while ((request = next()) != null) {
      try {
        request.run();
      } catch (RuntimeException | Error e) {
        threads.execute(this::work); // This thread is done for; the others must not wait for it.
        throw e;
      }
    }
  }

  private synchronized @Nullable Runnable next() {
    Runnable next = waiting.poll();
    if (next == null) {
      running--;
    }
    return next;
  }
}
