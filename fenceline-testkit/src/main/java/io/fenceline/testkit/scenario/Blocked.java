package io.fenceline.testkit.scenario;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.BiConsumer;

/** A call in a thread of its own. */
public final class Blocked<T> {
  private final CompletableFuture<T> result = new CompletableFuture<>();
  private final BiConsumer<String, Callable<Boolean>> await;
  private final Thread thread;
  private volatile boolean interruptedAtTheEnd;

  Blocked(Callable<T> call, BiConsumer<String, Callable<Boolean>> await) {
    this.await = await;
    this.thread = new Thread(() -> run(call), "blocked");
    thread.setDaemon(true);
    thread.start();
  }

  private void run(Callable<T> call) {
    try {
      T value = call.call();
      interruptedAtTheEnd = Thread.currentThread().isInterrupted();
      result.complete(value);
    } catch (Throwable t) {
      interruptedAtTheEnd = Thread.currentThread().isInterrupted();
      result.completeExceptionally(t);
    }
  }

  /** Waits for the end of the call, and gives its result. */
  public T result() {
    await.accept("a blocked call", result::isDone);
    return result.join();
  }

  /** Waits for the end of the call, and gives what it threw. */
  public Throwable failure() {
    await.accept("a blocked call", result::isDone);
    try {
      throw new AssertionError("it did not fail but gave " + result.get());
    } catch (ExecutionException e) {
      return e.getCause() == null ? e : e.getCause();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  public boolean isDone() {
    return result.isDone();
  }

  /** Returns whether the call waits for something just now. */
  public boolean isWaiting() {
    Thread.State state = thread.getState();
    return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
  }

  public boolean hasEnded() {
    return !thread.isAlive();
  }

  public void interrupt() {
    thread.interrupt();
  }

  public boolean wasInterruptedAtTheEnd() {
    return interruptedAtTheEnd;
  }

  @Override
  public String toString() {
    return thread.getName() + " " + thread.getState();
  }
}
