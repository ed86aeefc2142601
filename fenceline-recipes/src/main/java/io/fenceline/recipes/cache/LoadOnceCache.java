package io.fenceline.recipes.cache;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.LockTimeoutException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.recipes.once.Codec;
import io.fenceline.recipes.support.RecipeNames;
import io.fenceline.settings.Durations;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.LockNames;
import io.fenceline.time.Time;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A cache whose values are loaded once for all threads of all processes.
 *
 * <pre>{@code
 * LoadOnceCache<String> prices =
 *     LoadOnceCache.of(fenceline, "prices", Codec.text(), Duration.ofMinutes(1), CacheFallback.LOAD);
 *
 * String price = prices.get("EUR", key -> bank.priceOf(key));
 * }</pre>
 *
 * <p>What holds:
 *
 * <ul>
 *   <li>A key that is in no tier is loaded under the lock of the key, after a second look. With a
 *       {@linkplain #shared shared tier}, one thread of one process loads, and all get its value.
 *       Without, each process loads once, one after the other.
 *   <li>Whoever asks meanwhile waits, or gets the last value if that is {@linkplain #servingStale
 *       not too old}.
 *   <li>A loader that paused, and was overtaken, can't put its older value over a newer one: the
 *       write is refused by the token, in the step that would write it, also after the newer value
 *       has expired. Its caller gets the newer value if there is one.
 *   <li>A value is fresh for its time to live, less a random part ({@link #jitter}), so that not
 *       all keys end together.
 *   <li>An exception of the loader goes to the caller whose loader it was, and is not cached; the
 *       next one loads. So is null, as a {@link NullPointerException} that says so.
 *   <li>While the store of the locks or the shared tier is away, values are loaded without the
 *       lock, or not, as {@link CacheFallback} says.
 * </ul>
 *
 * <p>A value in the local tier is as old as its time to live at most; {@link #invalidate} reaches
 * this process and the shared tier, but not the local tiers of others.
 *
 * <p>Needs Caffeine. Settings give a changed copy with an empty local tier. Thread-safe.
 *
 * @param <V> the value
 */
public final class LoadOnceCache<V> {
  /*
   * The way of a miss: local tier, shared tier, lock (token t), local tier, begin(t) on the shared
   * tier, load, put(t), local tier, release.
   *
   * - Threads of one process queue for the lock in the client, and are handed it without a request; each
   *   looks into the local tier first.
   * - put(t) is taken only while t is the last token that has begun. The next loader begins with a larger
   *   one before it loads, so what was read earlier can't come later. An expired mark refuses too.
   * - Without a shared tier there is nothing to fence: a local value is kept if the lock is still valid.
   */
  private static final int SLOTS = 64;
  private static final Logger LOG = LoggerFactory.getLogger(LoadOnceCache.class);
  private static final String LOCKS = "cache:";
  private static final double MOST_JITTER = 0.9;

  private final Fenceline fenceline;
  private final Time time;
  private final String name;
  private final Codec<V> codec;
  private final Settings settings;
  private final Cache<String, Local<V>> local;

  /** How often keys were invalidated; those of one slot are counted together. */
  private final AtomicLongArray invalidations = new AtomicLongArray(SLOTS);

  /** Everything that can be set; changed only in a copy that no cache has yet. */
  private static final class Settings implements Cloneable {
    private final Duration timeToLive;
    private final CacheFallback fallback;
    private @Nullable SharedTier shared;
    private Duration stale = Duration.ZERO;
    private double jitter = 0.1;
    private long localLimit = 10_000;
    private Duration waiting = Duration.ofSeconds(30);
    private Duration lease = Duration.ofSeconds(30);
    private Duration longestLoad = Duration.ofMinutes(10);

    private Settings(Duration timeToLive, CacheFallback fallback) {
      this.timeToLive = timeToLive;
      this.fallback = fallback;
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

    private Duration kept() {
      return timeToLive.plus(stale);
    }
  }

  /** A value of this process. */
  private record Local<V>(V value, long freshUntilNanos, long keptUntilNanos) {}

  /**
   * One call.
   *
   * @param invalidated how often keys like this one had been invalidated when it began
   */
  private record Call(String key, String record, long invalidated) {}

  private LoadOnceCache(Fenceline fenceline, String name, Codec<V> codec, Settings settings) {
    this.fenceline = fenceline;
    this.time = fenceline.time();
    this.name = name;
    this.codec = codec;
    this.settings = settings;
    this.local =
        Caffeine.newBuilder()
            .ticker(time::nanos)
            .executor(Runnable::run)
            .maximumSize(settings.localLimit)
            .expireAfterWrite(settings.kept())
            .build();
  }

  /**
   * Returns a cache.
   *
   * @param fenceline whose locks keep two loaders of a key apart
   * @param name 1 to 50 letters, digits, dots, dashes and underscores; keys of different names are
   *     different keys
   * @param codec how a value is stored in a shared tier
   * @param timeToLive how long a value is fresh, from the end of its load
   * @param fallback what happens while a store gives no answer
   */
  public static <V> LoadOnceCache<V> of(
      Fenceline fenceline,
      String name,
      Codec<V> codec,
      Duration timeToLive,
      CacheFallback fallback) {
    Objects.requireNonNull(fenceline, "fenceline");
    RecipeNames.check(name);
    return new LoadOnceCache<>(
        fenceline,
        name,
        Objects.requireNonNull(codec, "codec"),
        new Settings(
            Durations.checkPositive("timeToLive", timeToLive),
            Objects.requireNonNull(fallback, "fallback")));
  }

  private LoadOnceCache<V> with(Consumer<Settings> change) {
    return new LoadOnceCache<>(fenceline, name, codec, settings.changed(change));
  }

  /** Adds a tier that all processes share. */
  public LoadOnceCache<V> shared(SharedTier tier) {
    return with(changed -> changed.shared = Objects.requireNonNull(tier, "tier"));
  }

  /**
   * Lets callers get the previous value while another caller loads a new one, if it expired no
   * longer ago than this; by default they wait.
   */
  public LoadOnceCache<V> servingStale(Duration noLongerThan) {
    return with(
        changed -> changed.stale = Durations.checkNotNegative("noLongerThan", noLongerThan));
  }

  /**
   * Sets the share of the time to live by which it is randomly shortened, 0 to 0.9; 0.1 by default.
   */
  public LoadOnceCache<V> jitter(double part) {
    if (!(part >= 0 && part <= MOST_JITTER)) {
      throw new InvalidSettingException("jitter", part, "it must be 0 to " + MOST_JITTER);
    }
    return with(changed -> changed.jitter = part);
  }

  /**
   * Sets the maximum number of values in the local tier; 10,000 by default, 0 for no local tier.
   */
  public LoadOnceCache<V> localLimit(long values) {
    if (values < 0) {
      throw new InvalidSettingException("localLimit", values, "it must not be negative");
    }
    return with(changed -> changed.localLimit = values);
  }

  /** Sets how long to wait for the load of another caller; 30 seconds by default. */
  public LoadOnceCache<V> waiting(Duration longest) {
    return with(changed -> changed.waiting = Durations.checkPositive("waiting", longest));
  }

  /**
   * Sets the lease of a key's lock: how long the key stays closed after a loader has vanished; 30
   * seconds by default.
   */
  public LoadOnceCache<V> lease(Duration lease) {
    return with(changed -> changed.lease = Durations.checkPositive("lease", lease));
  }

  /** Sets how long a load may take to be put into the shared tier; 10 minutes by default. */
  public LoadOnceCache<V> longestLoad(Duration longest) {
    return with(changed -> changed.longestLoad = Durations.checkPositive("longestLoad", longest));
  }

  /**
   * Returns the value of a key, and loads it if no tier has it.
   *
   * @throws X what the loader has thrown; nothing is cached
   * @throws NullPointerException if it returned null
   * @throws LockTimeoutException if another one loaded for longer than {@link #waiting}
   * @throws StoreUnavailableException if a store gave no answer, and {@link CacheFallback#FAIL} was
   *     chosen
   */
  public <X extends Exception> V get(String key, Loader<? extends V, X> loader)
      throws X, InterruptedException {
    Objects.requireNonNull(loader, "loader");
    String record = check(key);
    Local<V> here = local.getIfPresent(key);
    if (here != null && isFresh(here)) {
      return here.value;
    }
    Call call = new Call(key, record, invalidations.get(slot(key)));
    Optional<Hold> acquired;
    try {
      Local<V> known = looked(call, here);
      if (known != null && isFresh(known)) {
        return known.value;
      }
      acquired = acquired(record, known != null);
      if (acquired.isEmpty()) {
        return Objects.requireNonNull(known).value; // Stale, and another one loads.
      }
    } catch (StoreUnavailableException e) {
      if (settings.fallback == CacheFallback.FAIL) {
        throw e;
      }
      LOG.warn("Cache '{}': key '{}' is loaded without its lock: a store is away", name, key, e);
      return keep(call, loaded(key, loader), settings.timeToLive);
    }
    try (Hold hold = acquired.get()) {
      return under(hold, call, loader);
    }
  }

  /** The last value that is not too old, of whichever tier. */
  private @Nullable Local<V> looked(Call call, @Nullable Local<V> here) {
    SharedTier shared = settings.shared;
    if (shared != null) {
      Optional<SharedTier.Stored> found = shared.find(call.record);
      if (found.isPresent() && found.get().isFresh()) {
        V value = codec.decode(found.get().value());
        return put(call, value, found.get().fresh());
      }
      if (found.isPresent() && found.get().fresh().plus(settings.stale).toNanos() > 0) {
        long now = time.nanos();
        return new Local<>(codec.decode(found.get().value()), now, now);
      }
    }
    boolean isUsable =
        here != null && !settings.stale.isZero() && here.keptUntilNanos - time.nanos() > 0;
    return isUsable ? here : null;
  }

  @SuppressWarnings("MustBeClosedChecker") // Whoever asked for it releases it.
  private Optional<Hold> acquired(String record, boolean hasStale) throws InterruptedException {
    var lock = fenceline.lock(LOCKS + record, LockOptions.defaults().lease(settings.lease));
    return hasStale ? lock.tryAcquire() : Optional.of(lock.acquire(settings.waiting));
  }

  private <X extends Exception> V under(Hold hold, Call call, Loader<? extends V, X> loader)
      throws X {
    String key = call.key;
    Local<V> second = local.getIfPresent(key);
    if (second != null && isFresh(second)) {
      return second.value;
    }
    SharedTier shared = settings.shared;
    if (shared == null) {
      V value = loaded(key, loader);
      return hold.isValid() ? keep(call, value, fresh()) : value;
    }
    boolean isOurs;
    try {
      SharedTier.Look look = shared.begin(call.record, hold.token(), settings.longestLoad);
      if (look.found().isPresent()) {
        V value = codec.decode(look.found().get().value());
        return put(call, value, look.found().get().fresh()).value;
      }
      isOurs = look.isOurs();
    } catch (StoreUnavailableException e) {
      if (settings.fallback == CacheFallback.FAIL) {
        throw e;
      }
      LOG.warn("Cache '{}': key '{}' is not shared: the shared tier is away", name, key, e);
      return keep(call, loaded(key, loader), fresh());
    }
    V value = loaded(key, loader);
    return isOurs ? published(shared, hold.token(), call, value) : value;
  }

  private V published(SharedTier shared, long token, Call call, V value) {
    Duration fresh = fresh();
    byte[] bytes = codec.encode(value);
    try {
      if (shared.put(call.record, token, bytes, fresh, fresh.plus(settings.stale))) {
        return keep(call, value, fresh);
      }
      LOG.warn(
          "Cache '{}': the value of key '{}' was not shared, since its loader was overtaken or took"
              + " longer than {} (token={})",
          name,
          call.key,
          Durations.show(settings.longestLoad),
          token);
      Optional<SharedTier.Stored> newer =
          shared.find(call.record).filter(SharedTier.Stored::isFresh);
      return newer.isPresent()
          ? put(call, codec.decode(newer.get().value()), newer.get().fresh()).value
          : value;
    } catch (StoreUnavailableException e) {
      LOG.warn("Cache '{}': the value of key '{}' was not shared", name, call.key, e);
      return value; // It may be there or not; it was loaded in any case.
    }
  }

  private <X extends Exception> V loaded(String key, Loader<? extends V, X> loader) throws X {
    V value = loader.load(key);
    if (value == null) {
      throw new NullPointerException(
          "The loader of key '%s' returned null, which can't be cached (cache=%s)"
              .formatted(key, name));
    }
    return value;
  }

  private Duration fresh() {
    double part = 1 - settings.jitter * ThreadLocalRandom.current().nextDouble();
    return Duration.ofNanos(Math.max(1_000_000, (long) (settings.timeToLive.toNanos() * part)));
  }

  private boolean isFresh(Local<V> value) {
    return value.freshUntilNanos - time.nanos() > 0;
  }

  private V keep(Call call, V value, Duration fresh) {
    return put(call, value, fresh).value;
  }

  /** Keeps a value, unless its key was invalidated since the call began. */
  private Local<V> put(Call call, V value, Duration fresh) {
    long now = time.nanos();
    long until = now + fresh.toNanos();
    Local<V> entry = new Local<>(value, until, until + settings.stale.toNanos());
    local.put(call.key, entry);
    // Whoever invalidates counts first, and removes then: one of us two removes it.
    if (invalidations.get(slot(call.key)) != call.invalidated) {
      local.asMap().remove(call.key, entry);
    }
    return entry;
  }

  /**
   * Forgets a key, here and in the shared tier. A value that is being loaded now is not kept, since
   * it may have been read before the change that is the reason for this call.
   */
  public void invalidate(String key) {
    String record = check(key);
    invalidations.incrementAndGet(slot(key));
    if (settings.shared != null) {
      settings.shared.remove(record);
    }
    local.invalidate(key);
  }

  private static int slot(String key) {
    return Math.floorMod(key.hashCode(), SLOTS);
  }

  private String check(String key) {
    int limit = LockNames.MAX_BYTES - LOCKS.length() - name.length() - 1;
    int bytes = key.getBytes(StandardCharsets.UTF_8).length;
    if (key.isEmpty() || bytes > limit) {
      throw new InvalidSettingException(
          "key",
          "'" + key.substring(0, Math.min(20, key.length())) + (bytes > limit ? "…'" : "'"),
          "%s (bytes=%d, limit=%d)"
              .formatted(key.isEmpty() ? "it is empty" : "it is too long", bytes, limit));
    }
    return name + ":" + LockNames.check(key);
  }

  @Override
  public String toString() {
    SharedTier shared = settings.shared;
    return "LoadOnceCache '%s' (timeToLive=%s, shared=%s, fallback=%s)"
        .formatted(
            name,
            Durations.show(settings.timeToLive),
            shared == null ? "none" : shared.kind(),
            settings.fallback);
  }
}
