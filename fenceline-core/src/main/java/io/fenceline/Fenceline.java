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
 * A client of one store: gives out locks, keeps them renewed, and says when one is lost.
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
 * <p>One client a process and store is enough; it is thread-safe. Threads of one client queue
 * locally before they ask the store.
 */
public interface Fenceline extends AutoCloseable {

  /**
   * Connects with default settings.
   *
   * @param uri such as {@code sqlite:/var/lib/app/locks.db} or {@code redis://cache:6379}
   * @throws InvalidSettingException if the address is wrong or its store is not on the path
   * @throws StoreUnavailableException if the store can't be reached
   */
  @MustBeClosed
  static Fenceline connect(String uri) {
    return builder().store(uri).connect();
  }

  /** Settings, then {@link FencelineBuilder#connect}. */
  static FencelineBuilder builder() {
    return new ClientBuilder();
  }

  /** The lock of a name, with the client's default options. */
  FencedLock lock(String name);

  /** The lock of a name. */
  FencedLock lock(String name, LockOptions options);

  /** The read-write lock of a name, with the client's default options. */
  FencedReadWriteLock readWriteLock(String name);

  /** The read-write lock of a name. */
  FencedReadWriteLock readWriteLock(String name, LockOptions options);

  /** The semaphore of a name, with the client's default options. */
  FencedSemaphore semaphore(String name, int permits);

  /** The semaphore of a name. */
  FencedSemaphore semaphore(String name, int permits, LockOptions options);

  /** Several locks, all or none, with the client's default options. */
  Acquirable<MultiHold> lockAll(String... names);

  /**
   * Several locks, all or none.
   *
   * <p>Free of deadlock, in whatever order callers name them: they are always taken in the order of
   * their names. If one of them is lost while the next is waited for, all are given back, and it
   * starts over while there is time; a try does not, and is empty.
   */
  Acquirable<MultiHold> lockAll(List<String> names, LockOptions options);

  /** Who holds a name, and who waits. */
  LockReport inspect(String name);

  /**
   * The names that start with a prefix and are held or waited for, in order.
   *
   * @param limit how many at most
   */
  List<LockReport> list(String prefix, int limit);

  /**
   * Takes a lock away from whoever holds it, if it is still the grant of this token. Its tokens are
   * below every later one, so a fence refuses what the former holder still writes; with a
   * lock-delay the name opens only after the delay.
   *
   * @param token as {@link #inspect} shows it, or any that was handed on within that grant
   * @return whether that grant still held the lock
   */
  boolean forceRelease(String name, long token);

  /**
   * Looks the store over: version, permissions, settings that put locks at risk. Empty where a
   * store has nothing to check.
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

  /** As {@link FencelineBuilder#observer}, for what begins from now on. */
  void observe(ObserverFactory observer);

  /** What the store promises. */
  Guarantees guarantees();

  /** What the store is, without secrets. */
  String store();

  /**
   * The clocks, timers and threads that this client lives by, for whatever is built on it. They end
   * with the client, unless they were handed in; nobody else closes them.
   */
  Time time();

  /**
   * Gives back everything: first all holds become invalid, then their loss is signalled, then they
   * are released. Whoever waits fails with {@link ClientClosedException}.
   */
  @Override
  void close();
}
