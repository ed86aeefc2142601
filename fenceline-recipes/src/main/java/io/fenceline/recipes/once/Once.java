package io.fenceline.recipes.once;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.fenceline.FencedLock;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockLostException;
import io.fenceline.LockOptions;
import io.fenceline.StoreUnavailableException;
import io.fenceline.recipes.once.OnceRefusedException.Reason;
import io.fenceline.recipes.support.RecipeNames;
import io.fenceline.settings.Durations;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.LockNames;
import io.fenceline.time.Lane;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Work that has its effect once for each key, although it is asked for many times.
 *
 * <pre>{@code
 * Once<Work, String> payments =
 *     Once.of(fenceline, "payments", MemoryRecords.create(), Codec.text(), Vanished.IN_DOUBT);
 *
 * String receipt = payments.call("order-12345", "EUR 12.00", work -> {
 *   work.effectBegins();
 *   return charge(work.key(), work.token());
 * });
 * }</pre>
 *
 * <p>What holds:
 *
 * <ul>
 *   <li>The first one who asks for a key works. Whoever asks meanwhile waits for the result, or is
 *       told that it is under way: see {@link #waiting}. Whoever asks later gets the stored result.
 *   <li>The same key with another request is refused.
 *   <li>A worker that paused, and was overtaken, can't store its result.
 *   <li>A key whose worker vanished is run again or refused, as {@link Vanished} says.
 *   <li>With {@link SqlRecords}, what the worker writes by {@link SqlWork#connection} is committed
 *       together with the record: such an effect is had exactly once. With other records, and for
 *       an effect that is elsewhere, a worker that dies after the effect and before the record
 *       leaves the key as one that vanished: no library can know more.
 *   <li>An exception is no result: the key is free again, unless {@link Work#effectBegins} was
 *       called, or {@link #keepingFailures} declares it one.
 *   <li>After {@link #retention} a key is forgotten, and would be worked on again. A key in doubt
 *       is never forgotten.
 * </ul>
 *
 * <p>Immutable: each setting gives a changed copy. Thread-safe.
 *
 * @param <W> what a worker is told
 * @param <T> the result
 */
public final class Once<W extends Work, T> {
  /*
   * The way of a key, and where it would break:
   *
   * 1. The lock of the key is taken: token t. 2. begin(t) makes the record. 3. The worker works.
   * 4. finish(t) stores the result. 5. The lock is released.
   *
   * - Two workers: both would have to have begun with their own token. The second one's begin is
   *   after its grant, so the first one's lease is over by the store's time; it takes the record
   *   over (RERUN), and then the first one's finish is refused, or it does not work at all
   *   (IN_DOUBT).
   * - A worker that pauses between 1 and 2, while the next one works, finishes, and the retention
   *   passes: its begin would find nothing. So the lock must still be valid after begin was
   *   answered; then nobody else can have had it before.
   * - A token that goes back (a lock store that was wiped): begin with a smaller token than that of
   *   the record takes nothing over, and fails with both.
   * - A key stuck for ever: with RERUN the lock opens at the end of a lease, and the next begin takes
   *   over. With IN_DOUBT it is meant to be.
   */
  private static final Logger LOG = LoggerFactory.getLogger(Once.class);
  private static final String LOCKS = "once:";

  /** After so many results, old ones are removed. */
  private static final int SWEEP_AFTER = 100;

  private static final int LONGEST_FAILURE = 1_000;

  private final Fenceline fenceline;
  private final String name;
  private final OnceRecords<W> records;
  private final Codec<T> codec;
  private final Settings settings;
  private final OldRecords sweeper;

  /** Everything that can be set; changed only in a copy that no caller has yet. */
  private static final class Settings implements Cloneable {
    private final Vanished vanished;
    private Duration lease = Duration.ofSeconds(30);
    private Duration waiting = Duration.ofSeconds(30);
    private Duration retention = Duration.ofDays(7);
    private int resultLimit = 1 << 20;
    private Predicate<? super Exception> failures = failure -> false;
    private String label = "pid " + ProcessHandle.current().pid();

    private Settings(Vanished vanished) {
      this.vanished = vanished;
    }

    private Settings changed(Consumer<Settings> change) {
      try {
        Settings copy = (Settings) clone();
        change.accept(copy);
        return copy;
      } catch (CloneNotSupportedException e) {
        throw new AssertionError(e);
      }
    }
  }

  private Once(
      Fenceline fenceline,
      String name,
      OnceRecords<W> records,
      Codec<T> codec,
      Settings settings,
      OldRecords sweeper) {
    this.fenceline = fenceline;
    this.name = name;
    this.records = records;
    this.codec = codec;
    this.settings = settings;
    this.sweeper = sweeper;
  }

  /**
   * Work of one kind.
   *
   * @param fenceline whose locks keep two workers of a key apart
   * @param name of the kind of work: 1 to 50 letters, digits, dots, dashes and underscores; keys of
   *     different names are different keys
   * @param records where it is kept what is known of the keys
   * @param codec how a result is stored
   * @param vanished what becomes of a key whose worker vanished
   */
  public static <W extends Work, T> Once<W, T> of(
      Fenceline fenceline, String name, OnceRecords<W> records, Codec<T> codec, Vanished vanished) {
    Objects.requireNonNull(fenceline, "fenceline");
    RecipeNames.check(name);
    return new Once<>(
        fenceline,
        name,
        Objects.requireNonNull(records, "records"),
        Objects.requireNonNull(codec, "codec"),
        new Settings(Objects.requireNonNull(vanished, "vanished")),
        new OldRecords(fenceline.time().lane(Lane.UNDO), SWEEP_AFTER));
  }

  private Once<W, T> with(Consumer<Settings> change) {
    return new Once<>(fenceline, name, records, codec, settings.changed(change), sweeper);
  }

  /** Returns a copy with other records, such as {@link SqlRecords#joining}. */
  public Once<W, T> in(OnceRecords<W> others) {
    return new Once<>(fenceline, name, others, codec, settings, sweeper);
  }

  /**
   * Sets the lease of a key's lock: how long the key stays closed after its worker has vanished; 30
   * seconds by default.
   */
  public Once<W, T> lease(Duration lease) {
    return with(changed -> changed.lease = Durations.checkPositive("lease", lease));
  }

  /**
   * Sets how long to wait for another worker of the same key; 30 seconds by default, zero not to
   * wait.
   */
  public Once<W, T> waiting(Duration longest) {
    return with(changed -> changed.waiting = Durations.checkNotNegative("waiting", longest));
  }

  /** Sets how long results are kept; 7 days by default. */
  public Once<W, T> retention(Duration retention) {
    return with(changed -> changed.retention = Durations.checkPositive("retention", retention));
  }

  /** Sets the size of the largest result, in bytes; 1 MB by default. */
  public Once<W, T> resultLimit(int bytes) {
    if (bytes < 1) {
      throw new InvalidSettingException("resultLimit", bytes, "it must be at least 1");
    }
    return with(changed -> changed.resultLimit = bytes);
  }

  /**
   * Which exceptions are results: they are stored, and whoever asks later gets an {@link
   * OnceRefusedException} that says so. None by default. In SQL the effect is undone all the same.
   */
  public Once<W, T> keepingFailures(Predicate<? super Exception> failures) {
    return with(changed -> changed.failures = Objects.requireNonNull(failures, "failures"));
  }

  /** Sets the name of this worker in records and messages; the process id by default. */
  public Once<W, T> label(String label) {
    return with(changed -> changed.label = LockNames.check(label));
  }

  /**
   * Does the work, or returns its stored result.
   *
   * @param key what is to be done once
   * @param request all that matters of the request; only its hash is stored
   * @throws OnceRefusedException with the reason, also if a failure is stored
   * @throws StoreUnavailableException if a store gave no answer. If that was after the work, the
   *     result may be stored or not; ask again
   * @throws LockLostException if the lock was lost before the work began
   */
  @CanIgnoreReturnValue
  public <X extends Exception> T call(
      String key, String request, OnceTask<? super W, ? extends T, X> task)
      throws X, InterruptedException {
    return call(key, request.getBytes(StandardCharsets.UTF_8), task);
  }

  /** As {@link #call(String, String, OnceTask)}, with a request of bytes. */
  @CanIgnoreReturnValue
  public <X extends Exception> T call(
      String key, byte[] request, OnceTask<? super W, ? extends T, X> task)
      throws X, InterruptedException {
    Objects.requireNonNull(task, "task");
    Call<X> call = new Call<>(check(key), fingerprint(request), task);
    Optional<Entry> known = records.find(call.record);
    if (known.isPresent() && known.get().isFinished()) {
      return call.stored(known.get());
    }
    try (Hold hold = acquired(key)) {
      return call.under(hold);
    }
  }

  @SuppressWarnings("MustBeClosedChecker") // Whoever asked for it releases it.
  private Hold acquired(String key) throws InterruptedException {
    FencedLock lock =
        fenceline.lock(LOCKS + name + ":" + key, LockOptions.defaults().lease(settings.lease));
    Optional<Hold> hold =
        settings.waiting.isZero() ? lock.tryAcquire() : lock.tryAcquire(settings.waiting);
    return hold.orElseThrow(
        () ->
            OnceRefusedException.of(
                Reason.UNDER_WAY,
                key,
                records.find(recordOf(key)).orElse(null),
                "is being worked on by another caller for longer than "
                    + Durations.show(settings.waiting)));
  }

  private String recordOf(String key) {
    return name + ":" + key;
  }

  private String check(String key) {
    int limit = LockNames.MAX_BYTES - LOCKS.length() - name.length() - 1;
    int bytes = key.getBytes(StandardCharsets.UTF_8).length;
    if (key.isEmpty()) {
      throw OnceRefusedException.invalidKey("", "it is empty", 0, limit);
    }
    if (bytes > limit) {
      String start = key.substring(0, Math.min(20, key.length()));
      throw OnceRefusedException.invalidKey(start + "…", "it is too long", bytes, limit);
    }
    String unused = LockNames.check(key);
    return key;
  }

  private static String fingerprint(byte[] request) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(request));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // Every Java has it.
    }
  }

  private Instant now() {
    return Instant.ofEpochMilli(fenceline.time().wallMillis());
  }

  /** One call. */
  private final class Call<X extends Exception> {
    private final String key;
    private final String record;
    private final String fingerprint;
    private final OnceTask<? super W, ? extends T, X> task;

    Call(String key, String fingerprint, OnceTask<? super W, ? extends T, X> task) {
      this.key = key;
      this.record = recordOf(key);
      this.fingerprint = fingerprint;
      this.task = task;
    }

    /** What is stored, if it is of the same request. */
    T stored(Entry entry) {
      checkRequest(entry);
      byte[] result = Objects.requireNonNull(entry.result(), "a finished record has a result");
      if (entry.state() == OnceReport.State.FAILED) {
        String[] parts = new String(result, StandardCharsets.UTF_8).split("\n", 2);
        throw OnceRefusedException.failedBefore(
            key, entry, parts[0], parts.length > 1 ? parts[1] : "");
      }
      return codec.decode(result);
    }

    private void checkRequest(Entry entry) {
      if (!entry.fingerprint().equals(fingerprint)) {
        throw OnceRefusedException.of(
            Reason.OTHER_REQUEST, key, entry, "was used for another request before");
      }
    }

    T under(Hold hold) throws X, InterruptedException {
      Entry entry = begun(hold.token());
      if (entry.isFinished()) {
        return stored(entry);
      }
      checkRequest(entry);
      if (entry.token() > hold.token()) {
        throw OnceRefusedException.of(
            Reason.OVERTAKEN,
            key,
            entry,
            "was taken over by a worker with a larger token than this one's, which is %d"
                .formatted(hold.token()));
      }
      if (entry.token() < hold.token()) {
        throw OnceRefusedException.of(
            Reason.IN_DOUBT,
            key,
            entry,
            "has a worker that vanished without a result; find out whether it had an effect, then settle the key");
      }
      try {
        // Only now is it certain that no later worker had come and gone before the record was made.
        hold.ensure(Duration.ZERO);
      } catch (LockLostException | InterruptedException e) {
        clear(hold.token(), e);
        throw e;
      }
      return worked(hold, new RunningWork(key, hold, entry.attempts()));
    }

    private Entry begun(long token) {
      try {
        return records.begin(
            record, fingerprint, token, settings.label, settings.vanished == Vanished.RERUN, now());
      } catch (StoreUnavailableException e) {
        clear(token, e); // No work was done; but the record may have been made.
        throw e;
      }
    }

    private T worked(Hold hold, RunningWork running) throws X {
      T result = null;
      boolean ran = false;
      try (OnceRecords.Session<W> session = records.open(running)) {
        result = task.run(session.work());
        ran = true;
        byte[] bytes = encoded(result);
        if (!session.finish(record, hold.token(), done(OnceReport.State.DONE, bytes), now())) {
          throw overtaken(hold.token());
        }
      } catch (Exception e) {
        if (!ran) {
          failed(hold, running, e);
        } // Else the effect may be there: the key is left as it is.
        throw e;
      }
      sweeper.finished(() -> records.sweep(name, settings.retention, now()));
      return result;
    }

    private byte[] encoded(T result) {
      byte[] bytes;
      try {
        bytes = Objects.requireNonNull(codec.encode(Objects.requireNonNull(result, "result")));
      } catch (RuntimeException e) {
        throw new OnceRefusedException(
            Reason.NO_RESULT,
            key,
            0,
            null,
            "Key '%s' has a result that the codec can't encode: %s".formatted(key, e),
            e);
      }
      if (bytes.length > settings.resultLimit) {
        throw new OnceRefusedException(
            Reason.NO_RESULT,
            key,
            0,
            null,
            "Key '%s' has a result that is too large to be stored (bytes=%d, limit=%d)"
                .formatted(key, bytes.length, settings.resultLimit),
            null);
      }
      return bytes;
    }

    private OnceRefusedException overtaken(long token) {
      return OnceRefusedException.of(
          Reason.OVERTAKEN,
          key,
          records.find(record).orElse(null),
          "was taken over from this worker, whose result is not stored (token=%d)"
              .formatted(token));
    }

    /** The worker has thrown; what it wrote by the session's transaction is undone by now. */
    private void failed(Hold hold, RunningWork running, Exception failure) {
      if (settings.failures.test(failure)) {
        keep(hold.token(), failure);
      } else if (!running.hasEffectBegun() && hold.isValid()) {
        clear(hold.token(), failure);
      }
    }

    private void keep(long token, Exception failure) {
      String message = String.valueOf(failure.getMessage());
      String shown =
          failure.getClass().getName()
              + "\n"
              + message.substring(0, Math.min(LONGEST_FAILURE, message.length()));
      byte[] bytes = shown.getBytes(StandardCharsets.UTF_8);
      try {
        if (!records.finish(record, token, token, done(OnceReport.State.FAILED, bytes), now())) {
          failure.addSuppressed(overtaken(token));
        }
      } catch (RuntimeException e) {
        failure.addSuppressed(e);
      }
    }

    private void clear(long token, Exception reason) {
      try {
        records.clear(record, token);
      } catch (RuntimeException e) {
        reason.addSuppressed(e);
      }
    }
  }

  private OnceRecords.Outcome done(OnceReport.State state, byte[] bytes) {
    return new OnceRecords.Outcome(state, bytes, settings.retention);
  }

  /** Returns what is known of a key; empty if nothing is, or not any more. */
  public Optional<OnceReport> find(String key) {
    return records.find(recordOf(check(key))).map(entry -> report(key, entry));
  }

  private static OnceReport report(String key, Entry entry) {
    return new OnceReport(
        key, entry.state(), entry.token(), entry.attempts(), entry.since(), entry.worker());
  }

  /**
   * Settles a key in doubt: the effect was had, and this is its result. A worker that wakes up
   * after all can't store another.
   *
   * @param token of the worker that vanished, as {@link OnceRefusedException#token} and {@link
   *     OnceReport#token} tell it
   * @throws OnceRefusedException if the key is being worked on, or is not begun by that token
   */
  public void settle(String key, long token, T result) throws InterruptedException {
    byte[] bytes = codec.encode(result);
    settled(
        key,
        token,
        by -> records.finish(recordOf(key), token, by, done(OnceReport.State.DONE, bytes), now()));
  }

  /**
   * Settles a key in doubt: there was no effect, and the next one who asks works again.
   *
   * @param token as in {@link #settle}
   * @throws OnceRefusedException as {@link #settle}
   */
  public void forget(String key, long token) throws InterruptedException {
    settled(key, token, by -> records.clear(recordOf(key), token));
  }

  private interface Settling {
    boolean by(long token);
  }

  private void settled(String key, long token, Settling settling) throws InterruptedException {
    // Under the lock: a worker that is alive is not one that vanished.
    try (Hold hold = acquired(check(key))) {
      if (!settling.by(hold.token())) {
        throw OnceRefusedException.of(
            Reason.NOT_IN_DOUBT,
            key,
            records.find(recordOf(key)).orElse(null),
            "is not in doubt with token %d".formatted(token));
      }
    }
  }

  /** Removes results that are older than the retention; also done by itself, as results come. */
  public void sweep() {
    while (records.sweep(name, settings.retention, now())) {
      LOG.debug("Once '{}': more records to sweep", name);
    }
  }

  @Override
  public String toString() {
    return "Once '%s' (records=%s, vanished=%s)".formatted(name, records.kind(), settings.vanished);
  }
}
