package io.fenceline.spring;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.fenceline.Acquirable.Action;
import io.fenceline.Acquirable.Task;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.LockTimeoutException;
import io.fenceline.settings.Durations;
import io.fenceline.spring.Locked.InTransaction;
import io.fenceline.spring.Locked.Mode;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * What {@link Locked} does, without a proxy.
 *
 * <pre>{@code
 * locks.run("order:" + id, hold -> orders.pay(id, hold.fencingToken()));
 * boolean ran = locks.maxWait(Duration.ZERO).tryRun("nightly", hold -> report.write());
 * }</pre>
 *
 * <p>Sets {@link LockedContext}, enters a lock again that the thread already runs under, takes the
 * settings of the name, and refuses to lock inside a running transaction.
 *
 * <p>Immutable: each setting gives a changed copy. Thread-safe.
 */
public final class LockTemplate {
  private static final String CALLER = "LockTemplate";

  private final Supplier<Fenceline> client;
  private final Supplier<LockSettings> settings;
  private final Mode mode;
  private final UnaryOperator<LockOptions> options;
  private final @Nullable Duration maxWait;
  private final InTransaction inTransaction;

  LockTemplate(Supplier<Fenceline> client, Supplier<LockSettings> settings) {
    this(client, settings, Mode.EXCLUSIVE, UnaryOperator.identity(), null, InTransaction.REFUSE);
  }

  private LockTemplate(
      Supplier<Fenceline> client,
      Supplier<LockSettings> settings,
      Mode mode,
      UnaryOperator<LockOptions> options,
      @Nullable Duration maxWait,
      InTransaction inTransaction) {
    this.client = client;
    this.settings = settings;
    this.mode = mode;
    this.options = options;
    this.maxWait = maxWait;
    this.inTransaction = inTransaction;
  }

  /** Returns a template over the locks of a client. */
  public static LockTemplate of(Fenceline client) {
    Objects.requireNonNull(client, "client");
    return new LockTemplate(() -> client, () -> LockSettings.DEFAULTS);
  }

  /** Returns a copy with the settings of names from elsewhere. */
  public LockTemplate settings(LockSettings settings) {
    Objects.requireNonNull(settings, "settings");
    return new LockTemplate(client, () -> settings, mode, options, maxWait, inTransaction);
  }

  /** Returns a copy that waits this long, whatever the settings of the name say. */
  public LockTemplate maxWait(Duration maxWait) {
    Durations.checkNotNegative("maxWait", maxWait);
    return new LockTemplate(client, settings, mode, options, maxWait, inTransaction);
  }

  /** Returns a copy that changes the options of the name. */
  public LockTemplate options(UnaryOperator<LockOptions> change) {
    UnaryOperator<LockOptions> before = options;
    return new LockTemplate(
        client, settings, mode, given -> change.apply(before.apply(given)), maxWait, inTransaction);
  }

  /** Returns a copy whose locks are shared with other readers. */
  public LockTemplate shared() {
    return new LockTemplate(client, settings, Mode.SHARED, options, maxWait, inTransaction);
  }

  /** Returns a copy that behaves like this inside a transaction that is already running. */
  public LockTemplate inTransaction(InTransaction what) {
    return new LockTemplate(
        client, settings, mode, options, maxWait, Objects.requireNonNull(what, "what"));
  }

  /**
   * Acquires the lock, does the work, and releases.
   *
   * @throws LockTimeoutException if others kept the lock for all of the wait
   * @throws io.fenceline.LockLostException if the lock was lost while the work ran
   * @throws IllegalStateException if a transaction is already running
   */
  public <X extends Exception> void run(String name, Action<? super Hold, X> action)
      throws InterruptedException, X {
    this.<Boolean, X>call(name, Objects.requireNonNull(action, "action").asTask());
  }

  /** As {@link #run}, for work that gives a result. */
  @SuppressWarnings({"unchecked", "NullAway"}) // What the task gives, null included.
  public <T, X extends Exception> T call(String name, Task<? super Hold, T, X> task)
      throws InterruptedException, X {
    Objects.requireNonNull(task, "task");
    return (T) guarded(name).run(held -> task.call((Hold) held));
  }

  /**
   * As {@link #run}, and skips the work if others keep the lock for all of the wait.
   *
   * @return whether the work was done
   */
  @CanIgnoreReturnValue
  public <X extends Exception> boolean tryRun(String name, Action<? super Hold, X> action)
      throws InterruptedException, X {
    return this.<Boolean, X>tryCall(name, Objects.requireNonNull(action, "action").asTask())
        .isPresent();
  }

  /** As {@link #tryRun}, for work that gives a result, which must not be null. */
  public <T, X extends Exception> Optional<T> tryCall(String name, Task<? super Hold, T, X> task)
      throws InterruptedException, X {
    boolean[] begun = new boolean[1];
    try {
      return Optional.of(
          this.<T, X>call(
              name,
              hold -> {
                begun[0] = true;
                return task.call(hold);
              }));
    } catch (LockTimeoutException e) {
      if (begun[0]) {
        throw e; // Of a lock further inside.
      }
      return Optional.empty();
    }
  }

  private LockedCall guarded(String name) {
    Fenceline fenceline = client.get();
    LockSettings ofNames = settings.get();
    LockOptions ofName = ofNames.options(name, fenceline.lock(name).options());
    return new LockedCall(
        fenceline,
        name,
        mode,
        0,
        options.apply(ofName),
        maxWait == null ? ofNames.maxWait(name) : maxWait,
        CALLER,
        inTransaction,
        false);
  }
}
