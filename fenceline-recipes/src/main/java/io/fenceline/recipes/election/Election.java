package io.fenceline.recipes.election;

import com.google.errorprone.annotations.MustBeClosed;
import io.fenceline.Fenceline;
import io.fenceline.LockOptions;
import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.settings.Durations;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.LockNames;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * An election: of all candidates of a name, in any number of processes, one leads at a time.
 *
 * <pre>{@code
 * Election election = Election.of(fenceline, "reports");
 * try (Candidate candidate = election.campaign(leadership -> {
 *   while (!leadership.awaitEnd(Duration.ofMinutes(1))) {
 *     ledger.append(entry, leadership.term());
 *   }
 * })) {
 *   serve();
 * }
 * }</pre>
 *
 * <p>What holds, on any store that Fenceline has:
 *
 * <ul>
 *   <li>Terms rise: that of a later leader is larger than that of every earlier one. It is the
 *       fencing token of the lock of the same name, and a fence refuses an overtaken leader by it.
 *   <li>A leader that runs is told of its loss no later than its own deadline, and its thread is
 *       interrupted then; the store lets the next one in only after that. A leader that stands
 *       still (a long pause of the JVM, a suspended machine) can be told of nothing: it is stopped
 *       by its term, where the resource checks it. Whether grants survive a failover of the store
 *       is what {@link Fenceline#guarantees} says.
 *   <li>After a leader's death the office is open at the end of its lease at the latest; after
 *       {@link Candidate#resign} or {@link Candidate#close}, as soon as its task has returned.
 *   <li>A failing task gives the leadership up; the candidate campaigns again after a back-off.
 * </ul>
 *
 * <p>Immutable: each setting gives a changed copy. Thread-safe.
 */
public final class Election {
  private static final Duration LOOK = Duration.ofMillis(250);

  private final Fenceline fenceline;
  private final String name;
  private final Settings settings;

  /** What a campaign is led by. */
  record Settings(
      LockOptions options,
      Optional<Duration> longestTerm,
      Duration firstBackOff,
      Duration longestBackOff,
      Duration stopWithin) {}

  private Election(Fenceline fenceline, String name, Settings settings) {
    this.fenceline = fenceline;
    this.name = name;
    this.settings = settings;
  }

  /**
   * Returns the election of a name, on a lease of 30 seconds.
   *
   * @param name that of the lock that decides it: 1 to 200 bytes of UTF-8, no controls
   * @throws InvalidSettingException if the name is not allowed
   */
  public static Election of(Fenceline fenceline, String name) {
    return new Election(
        Objects.requireNonNull(fenceline, "fenceline"),
        LockNames.check(name),
        new Settings(
            LockOptions.defaults(),
            Optional.empty(),
            Duration.ofSeconds(1),
            Duration.ofSeconds(30),
            Duration.ofSeconds(10)));
  }

  /**
   * Sets how long the office stays closed after the last sign of life of a leader; 30 seconds by
   * default. On ZooKeeper it is the session's timeout.
   */
  public Election lease(Duration lease) {
    return options(settings.options.lease(lease));
  }

  /**
   * Keeps the office closed for this much longer, so that a leader that was told of its loss has
   * time to stop before the next one begins. None by default, and not on every store.
   */
  public Election lockDelay(Duration delay) {
    return options(settings.options.lockDelay(delay));
  }

  private Election options(LockOptions options) {
    return with(
        new Settings(
            options,
            settings.longestTerm,
            settings.firstBackOff,
            settings.longestBackOff,
            settings.stopWithin));
  }

  /** Ends a term after this time, so that others get their turn; none by default. */
  public Election longestTerm(Duration longest) {
    return with(
        new Settings(
            settings.options,
            Optional.of(Durations.checkPositive("longestTerm", longest)),
            settings.firstBackOff,
            settings.longestBackOff,
            settings.stopWithin));
  }

  /**
   * Sets how long a candidate pauses after its term has ended, unless it was lost: {@code first} in
   * general, and twice as long after each failure of the task in a row, up to {@code longest}. 1
   * and 30 seconds by default.
   */
  public Election backOff(Duration first, Duration longest) {
    Durations.checkPositive("backOff", first);
    if (Durations.checkPositive("longest backOff", longest).compareTo(first) < 0) {
      throw new InvalidSettingException(
          "longest backOff",
          longest,
          "it must be at least the first one, " + Durations.show(first));
    }
    return with(
        new Settings(settings.options, settings.longestTerm, first, longest, settings.stopWithin));
  }

  /**
   * Sets how long a task may take to return after it was interrupted, before its lock is given up
   * all the same and the log tells of it; 10 seconds by default.
   */
  public Election stopWithin(Duration limit) {
    return with(
        new Settings(
            settings.options,
            settings.longestTerm,
            settings.firstBackOff,
            settings.longestBackOff,
            Durations.checkPositive("stopWithin", limit)));
  }

  private Election with(Settings changed) {
    return new Election(fenceline, name, changed);
  }

  /** Returns which election. */
  public String name() {
    return name;
  }

  /**
   * Campaigns in the background; when elected, runs the task on the candidate's own thread.
   *
   * @throws InvalidSettingException if the store can't keep such a lease or lock-delay
   */
  @MustBeClosed
  public Candidate campaign(LeaderTask task) {
    Objects.requireNonNull(task, "task");
    return new Campaign(fenceline.lock(name, settings.options), fenceline.time(), settings, task)
        .start();
  }

  /**
   * Campaigns in the background without a task: whoever needs the leadership asks the candidate for
   * it.
   */
  @MustBeClosed
  public Candidate campaign() {
    return campaign(leadership -> leadership.awaitEnd(Durations.LONGEST));
  }

  /**
   * Campaigns in the background; when elected, runs the work again and again, the first time at
   * once, with this much time between the end of one run and the start of the next. A run that
   * throws gives the leadership up, as any task does.
   */
  @MustBeClosed
  public Candidate campaignEvery(Duration pause, LeaderTask work) {
    Durations.checkPositive("pause", pause);
    Objects.requireNonNull(work, "work");
    return campaign(
        leadership -> {
          do {
            work.lead(leadership);
          } while (!leadership.awaitEnd(pause));
        });
  }

  /**
   * Returns who leads, as the store knows it.
   *
   * @throws StoreUnavailableException if the store gave no answer
   */
  public Optional<Leader> leader() {
    return Leader.in(fenceline.inspect(name));
  }

  /**
   * Waits until somebody leads; goes on asking while the store is down.
   *
   * @return empty if nobody does within {@code maxWait}
   * @throws StoreRefusedException if the store refuses to say
   */
  public Optional<Leader> awaitLeader(Duration maxWait) throws InterruptedException {
    Durations.checkNotNegative("maxWait", maxWait);
    Gate gate = new Gate(fenceline.time());
    long from = fenceline.time().nanos();
    while (true) {
      Optional<Leader> leader = leaderIfKnown();
      long left = maxWait.toNanos() - (fenceline.time().nanos() - from);
      if (leader.isPresent() || left <= 0) {
        return leader;
      }
      boolean unused = gate.await(Math.min(left, LOOK.toNanos()), () -> false);
    }
  }

  private Optional<Leader> leaderIfKnown() {
    try {
      return leader();
    } catch (StoreUnavailableException e) {
      return Optional.empty();
    }
  }

  /**
   * Tells who leads now, and then of each change, by asking the store again and again. Empty means
   * that nobody leads; a store that gives no answer is no change. No candidate is needed.
   *
   * @param every how long between an answer and the next question
   * @param listener called by one thread at a time; a term that was shorter than {@code every} may
   *     be missed
   */
  @MustBeClosed
  public Watch watch(Duration every, Consumer<? super Optional<Leader>> listener) {
    Durations.checkPositive("every", every);
    return new LeaderWatch(fenceline, name, every, Objects.requireNonNull(listener, "listener"))
        .start();
  }
}
