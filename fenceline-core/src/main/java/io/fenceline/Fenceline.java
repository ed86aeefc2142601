package io.fenceline;

import com.google.errorprone.annotations.MustBeClosed;
import io.fenceline.diagnosis.Finding;
import io.fenceline.diagnosis.Guarantees;
import io.fenceline.diagnosis.LockReport;
import io.fenceline.metrics.ObserverFactory;
import io.fenceline.runtime.ClientBuilder;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.time.Time;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A client of one store: creates locks, renews their holds, and reports when one is lost.
 *
 * <pre>{@code
 * try (Fenceline fenceline = Fenceline.connect("memory:")) {
 *   FencedLock lock = fenceline.lock("ledger");
 *   try (Hold hold = lock.acquire(Duration.ofSeconds(5))) {
 *     ledger.append(entry, hold.token());
 *   }
 * }
 * }</pre>
 *
 * <p>One client per process and store is enough; it is thread-safe. Threads of one client queue
 * locally before a request is sent to the store.
 */
public interface Fenceline extends AutoCloseable {

  /**
   * Connects with default settings.
   *
   * @param uri such as {@code sqlite:/var/lib/app/locks.db} or {@code redis://cache:6379}
   * @throws InvalidSettingException if the address is malformed, or its store is not on the class
   *     path
   * @throws StoreUnavailableException if the store can't be reached
   */
  @MustBeClosed
  static Fenceline connect(String uri) {
    return builder().store(uri).connect();
  }

  /** Returns a builder for a client with other settings. */
  static FencelineBuilder builder() {
    return new ClientBuilder();
  }

  /** Returns the lock with a name, with the client's default options. */
  FencedLock lock(String name);

  /** Returns the lock with a name and these options. */
  FencedLock lock(String name, LockOptions options);

  /** Returns the read-write lock with a name, with the client's default options. */
  FencedReadWriteLock readWriteLock(String name);

  /** Returns the read-write lock with a name and these options. */
  FencedReadWriteLock readWriteLock(String name, LockOptions options);

  /** Returns the semaphore with a name, with the client's default options. */
  FencedSemaphore semaphore(String name, int permits);

  /** Returns the semaphore with a name and these options. */
  FencedSemaphore semaphore(String name, int permits, LockOptions options);

  /** Returns a way to acquire several locks, all or none, with the client's default options. */
  Acquirable<MultiHold> lockAll(String... names);

  /**
   * Returns a way to acquire several locks, all or none.
   *
   * <p>This is free of deadlock, since the locks are always acquired in the order of their names.
   * If one of them is lost during the wait for the next one, all are released, and the acquire
   * starts again while there is time; a try does not start again and returns an empty result.
   */
  Acquirable<MultiHold> lockAll(List<String> names, LockOptions options);

  /** Returns who holds a lock, and who waits for it. */
  LockReport inspect(String name);

  /**
   * Returns the locks that are held or waited for and whose names start with a prefix, ordered by
   * name.
   *
   * @param limit the maximum number of locks
   */
  List<LockReport> list(String prefix, int limit);

  /**
   * Releases a lock by force if it is still held by the grant with this token. A fence refuses
   * further writes of the former holder once a later holder has written, since later tokens are
   * larger. With a lock-delay, the name opens only after the delay.
   *
   * @param token as {@link #inspect} shows it, or the token of any hand-off within that grant
   * @return whether that grant still held the lock
   */
  boolean forceRelease(String name, long token);

  /**
   * Checks the store: its version, permissions, and settings that put locks at risk. Empty if there
   * is nothing to check.
   */
  List<Finding> diagnose();

  /** As {@link #inspect}, without blocking. */
  CompletableFuture<LockReport> inspectAsync(String name);

  /** As {@link #list}, without blocking. */
  CompletableFuture<List<LockReport>> listAsync(String prefix, int limit);

  /** As {@link #forceRelease}, without blocking. */
  CompletableFuture<Boolean> forceReleaseAsync(String name, long token);

  /** As {@link #diagnose}, without blocking. */
  CompletableFuture<List<Finding>> diagnoseAsync();

  /**
   * Adds an observer, as {@link FencelineBuilder#observer} does, for acquires that start from now
   * on.
   */
  void observe(ObserverFactory observer);

  /** Returns what the store guarantees. */
  Guarantees guarantees();

  /** Returns a description of the store, without secrets. */
  String store();

  /**
   * Returns the clocks, timers and threads of this client, for code that builds on it. The client
   * closes them unless they were handed in; nobody else may.
   */
  Time time();

  /**
   * Closes the client: all holds become invalid, then their loss is signalled, then they are
   * released. Waiting callers fail with {@link ClientClosedException}.
   */
  @Override
  void close();
}
