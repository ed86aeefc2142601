package io.fenceline.testbed.process;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** Starts servers that need each other before they answer. */
public final class Starting {

  private Starting() {}

  /** Starts them all at once; if one fails, none is left and its error is thrown. */
  public static void together(List<? extends ServerProcess> servers) {
    BlockingQueue<Optional<RuntimeException>> outcomes = new LinkedBlockingQueue<>();
    for (ServerProcess server : servers) {
      Thread thread = new Thread(() -> outcomes.add(start(server)), "start " + server);
      thread.setDaemon(true);
      thread.start();
    }
    for (int ended = 0; ended < servers.size(); ended++) {
      // In the order of their ends: the one that dies must not wait for those that wait for it.
      Optional<RuntimeException> failure = take(outcomes);
      if (failure.isPresent()) {
        Closing.servers(servers);
        throw failure.get();
      }
    }
  }

  private static Optional<RuntimeException> start(ServerProcess server) {
    try {
      server.startFirst();
      return Optional.empty();
    } catch (RuntimeException e) {
      return Optional.of(e);
    } catch (Throwable e) {
      return Optional.of(new HarnessException(server + " did not start", e));
    }
  }

  private static Optional<RuntimeException> take(
      BlockingQueue<Optional<RuntimeException>> outcomes) {
    try {
      return outcomes.take();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.of(new HarnessException("Interrupted while servers start", e));
    }
  }
}
