package io.fenceline.recipes.ratelimit;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.fenceline.Fenceline;
import io.fenceline.LimitExceededException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.recipes.ratelimit.RateStore.Answer;
import io.fenceline.settings.Durations;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.LockNames;
import io.fenceline.time.Time;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A rate limit that all processes share.
 *
 * <pre>{@code
 * RateLimit limit =
 *     RateLimit.strict(
 *         fenceline, "api", 100, Duration.ofSeconds(1), MemoryRates.create(), RateLimitFallback.refuse());
 * if (limit.tryAcquire()) {
 *   call();
 * }
 * }</pre>
 *
 * <p>What holds:
 *
 * <ul>
 *   <li>A <em>strict</em> limit of n never admits more than n permits in any period, wherever that
 *       begins; all n may come at once. A <em>smooth</em> one admits them one by one, at even
 *       intervals, and a burst after a rest: at most {@code n + burst} in any period, and n if the
 *       burst is 1.
 *   <li>Permits count at the moment at which the store decides, by its clock: what clocks of
 *       clients say, and when they step, changes nothing. A store whose clock is set back goes on
 *       as if it had not been; one whose clock is set forward, or that forgets what it knew, may
 *       admit up to n too many, once. See each {@link RateStore}.
 *   <li>A client that dies, or whose answer is lost, has used its permits. They are back after a
 *       period. A question is never repeated, so it does not count twice.
 *   <li>Whoever {@linkplain #acquire waits} has a place: nobody who asks later comes first, up to
 *       {@value #PERIODS_AHEAD} periods ahead. There is one request, and no polling.
 *   <li>Clients with different n share a name: each keeps to its own n, counting the permits of
 *       all. Another period or kind is refused while the name is in use.
 * </ul>
 *
 * <p>After a refusal this client knows until when there is nothing to be had, and refuses by itself
 * until then. Keep the object, and a loop that asks again and again costs the store nothing.
 *
 * <p>Thread-safe.
 */
public final class RateLimit {
  /*
   * Why the client may refuse by itself: the earliest moment for k permits, as the store has told it,
   * can only become later, since others only take. For more than k it is not earlier either. The
   * refusal counts from the sending of the question, so it ends no later than by the store's clock.
   *
   * Why a wait begins with the answer: the answer comes after the decision, so by then at least as
   * much of the wait is over in the store. Clocks that run at slightly different speeds are made up
   * for by one in a thousand.
   */
  private static final Logger LOG = LoggerFactory.getLogger(RateLimit.class);

  /** How far ahead there are places for those who wait: it bounds what a store remembers. */
  private static final int PERIODS_AHEAD = 4;

  private static final int DRIFT = 1_000;
  private static final long NANOS_PER_MICRO = 1_000;

  /** After a store gave no answer, it is not asked for so long if this process may decide. */
  private static final Duration REST = Duration.ofSeconds(1);

  private final Time time;
  private final String name;
  private final Allowance terms;
  private final RateStore store;
  private final RateLimitFallback fallback;
  private final MemoryRates local;

  /** Until when there is nothing to be had. */
  private volatile @Nullable Drought drought;

  private volatile @Nullable Long awayUntilNanos;

  private record Drought(int permits, long untilNanos) {}

  private RateLimit(
      Time time,
      String name,
      Allowance terms,
      RateStore store,
      RateLimitFallback fallback,
      MemoryRates local) {
    this.time = time;
    this.name = LockNames.check(name);
    this.terms = terms;
    this.store = Objects.requireNonNull(store, "store");
    this.fallback = Objects.requireNonNull(fallback, "fallback");
    this.local = local;
    if (fallback.localPermits() > terms.permits()) {
      throw new InvalidSettingException(
          "permits",
          fallback.localPermits(),
          "the local limit, which applies while the store does not answer, can't exceed the limit of %d"
              .formatted(terms.permits()));
    }
  }

  /**
   * Never more than so many permits in any period.
   *
   * @param fenceline whose clock and timers it lives by
   * @param name of the limit, 1 to 200 bytes of UTF-8
   * @param permits up to a billion; above 500, up to 1/500 of them may stay unused
   * @param period a millisecond to 31 days
   * @param fallback what happens while the store gives no answer
   */
  public static RateLimit strict(
      Fenceline fenceline,
      String name,
      int permits,
      Duration period,
      RateStore store,
      RateLimitFallback fallback) {
    return new RateLimit(
        fenceline.time(),
        name,
        Allowance.strict(permits, period),
        store,
        fallback,
        MemoryRates.create());
  }

  /**
   * So many permits in a period, one by one at even intervals.
   *
   * @param permits at most one in 100 microseconds
   * @param burst how many may be had at once after a rest, 1 to {@code permits}
   * @see #strict the other parameters
   */
  public static RateLimit smooth(
      Fenceline fenceline,
      String name,
      int permits,
      Duration period,
      int burst,
      RateStore store,
      RateLimitFallback fallback) {
    return new RateLimit(
        fenceline.time(),
        name,
        Allowance.smooth(permits, period, burst),
        store,
        fallback,
        MemoryRates.create());
  }

  /** The same limit for one of many, such as a user: a limit of its own, {@code NAME:KEY}. */
  public RateLimit of(String key) {
    if (key.isEmpty()) {
      throw new InvalidSettingException("key", "''", "it is empty");
    }
    return new RateLimit(time, name + ":" + key, terms, store, fallback, local);
  }

  /** Takes one permit, if there is one now. */
  public boolean tryAcquire() {
    return tryAcquire(1);
  }

  /** Takes so many permits, all or none, if there are so many now. */
  public boolean tryAcquire(int permits) {
    return ask(permits).isAdmitted();
  }

  /**
   * As {@link #tryAcquire(int)}, and says how long it would take otherwise.
   *
   * @throws StoreUnavailableException if the store gave no answer, and {@link
   *     RateLimitFallback#refuse} was chosen. The permits may count as taken, for one period
   * @throws InvalidSettingException if there can never be so many at once, or if the name is in use
   *     with another period or kind
   */
  public Admission ask(int permits) {
    return asked(permits, 0);
  }

  /** Returns how long until so many permits could be had; zero if they are there. Takes none. */
  public Duration untilNext(int permits) {
    return asked(permits, -1).untilNext();
  }

  /**
   * Takes so many permits, waiting for them if that takes no longer than {@code maxWait}; otherwise
   * it throws at once.
   *
   * <p>Those who wait are served in the order in which they asked. A thread that is interrupted has
   * used its permits.
   *
   * @throws LimitExceededException if it would take longer; nothing was taken
   * @throws StoreUnavailableException as {@link #ask}
   */
  @CanIgnoreReturnValue
  public Admission acquire(int permits, Duration maxWait) throws InterruptedException {
    long longest = Durations.checkNotNegative("maxWait", maxWait).toNanos();
    long from = time.nanos();
    while (true) {
      long left = Math.max(0, longest - (time.nanos() - from));
      long ahead = PERIODS_AHEAD * terms.periodMicros() * NANOS_PER_MICRO;
      Admission admission = asked(permits, Math.min(left, ahead) / NANOS_PER_MICRO);
      long wait = admission.untilNext().toNanos();
      if (admission.isAdmitted()) {
        sleep(wait + wait / DRIFT);
        return new Admission(true, Duration.ZERO, admission.at(), admission.isLocal());
      }
      if (wait > left) {
        throw tooMany(permits, maxWait, admission.untilNext());
      }
      // There is no place yet; so one is asked for when there may be.
      sleep(Math.max(wait - ahead, ahead / PERIODS_AHEAD));
    }
  }

  private LimitExceededException tooMany(int permits, Duration maxWait, Duration untilNext) {
    return new LimitExceededException(
        "rate '" + name + "'",
        terms,
        "Asked for %d, which are not available within %s; try again in %s."
            .formatted(permits, Durations.show(maxWait), Durations.show(untilNext)),
        untilNext);
  }

  private void sleep(long nanos) throws InterruptedException {
    long from = time.nanos();
    for (long left = nanos; left > 0; left = nanos - (time.nanos() - from)) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      time.park(this, left);
    }
  }

  private Admission asked(int permits, long longestWaitMicros) {
    if (permits < 1 || permits > terms.atOnce()) {
      throw new InvalidSettingException(
          "permits",
          permits,
          "rate limit '%s' has 1 to %d at once (limit=%s)".formatted(name, terms.atOnce(), terms));
    }
    long sent = time.nanos();
    Drought known = drought;
    boolean takes = longestWaitMicros >= 0; // How long exactly, only the store can tell.
    if (takes && known != null && permits >= known.permits) {
      long left = known.untilNanos - sent;
      if (left > longestWaitMicros * NANOS_PER_MICRO) {
        Duration wait = Duration.ofNanos(left);
        Instant at = Instant.ofEpochMilli(time.wallMillis()).plus(wait);
        return new Admission(false, wait, at, false);
      }
    }
    Long awayUntil = awayUntilNanos;
    if (awayUntil != null && awayUntil - sent > 0) {
      return alone(permits, longestWaitMicros);
    }
    Answer answer;
    try {
      answer = store.take(name, terms, permits, longestWaitMicros, time);
    } catch (StoreUnavailableException e) {
      if (!fallback.isLocal() || permits > fallback.localPermits()) {
        throw e;
      }
      LOG.warn(
          "Rate limit '{}' is decided by this process alone for {}: the store gives no answer"
              + " (localPermits={})",
          name,
          Durations.show(REST),
          fallback.localPermits(),
          e);
      awayUntilNanos = time.nanos() + REST.toNanos();
      return alone(permits, longestWaitMicros);
    }
    awayUntilNanos = null;
    if (!answer.taken() && answer.waitMicros() > 0) {
      drought = new Drought(permits, sent + answer.waitMicros() * NANOS_PER_MICRO);
    }
    return admission(answer, false);
  }

  private Admission alone(int permits, long longestWaitMicros) {
    Allowance own =
        new Allowance(
            fallback.localPermits(),
            terms.periodMicros(),
            Math.min(terms.burst(), fallback.localPermits()));
    if (permits > own.atOnce()) {
      throw new StoreUnavailableException(
          store.kind(),
          "The store of rate limit '%s' does not answer, and %d permits exceed what it admits locally (localPermits=%d)"
              .formatted(name, permits, own.atOnce()),
          null);
    }
    return admission(local.take(name, own, permits, longestWaitMicros, time), true);
  }

  private static Admission admission(Answer answer, boolean isLocal) {
    return new Admission(
        answer.taken(),
        Duration.ofNanos(answer.waitMicros() * NANOS_PER_MICRO),
        Instant.EPOCH.plus(answer.atMicros(), ChronoUnit.MICROS),
        isLocal);
  }

  @Override
  public String toString() {
    return "RateLimit '%s' (limit=%s, store=%s, fallback=%s)"
        .formatted(name, terms, store.kind(), fallback);
  }
}
