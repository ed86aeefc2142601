package io.fenceline.jdbc.waiting;

import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Owner;
import io.fenceline.spi.QueuedClaim;
import io.fenceline.spi.StoreContext;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The claims of this process that wait in the database's queues, and the one poller that looks for
 * all of them.
 *
 * <p>Looking reads, and writes only to say that those who wait are alive, which it does for all of
 * them at once. Whoever's turn seems to have come is asked for again: that decides.
 */
public final class QueuePoller {
  /*
   * A look asks of each name who is first, and not of each who waits whether it is: only the first can
   * be granted, and a look at ten thousand who wait took as long as fifty hand-offs, in SQLite at their
   * expense. That one of them has been forgotten, which only a look at each of them tells, is found out
   * along with the signs of life.
   *
   * Where a message names who is next, looking is for what nobody says: a message that was lost, and an
   * end that has passed. So a look is also told when the next end is, and the next one comes right after
   * that: a holder or a head of the queue that died is noticed as soon as its time is over.
   *
   * A message may overtake the answer that says that its claim waits. So those that name nobody who waits
   * here are remembered for a while: an id is that of one claim, for ever.
   */

  /**
   * Who waits and has not been heard of for this long is forgotten, or for its lease if shorter.
   */
  private static final Duration LONGEST_PATIENCE = Duration.ofSeconds(10);

  private static final Duration SHORTEST_PATIENCE = Duration.ofMillis(500);

  /** Signs of life come so long before the last moment, or in thirds if that is sooner. */
  private static final Duration LEEWAY = Duration.ofSeconds(5);

  /** An end that has just passed is looked for no more often. */
  private static final long SHORTEST_PAUSE_NANOS = 1_000_000;

  /** How many messages are remembered that named nobody who waits here. */
  private static final int EARLY_HINTS = 256;

  /** Where changes can be seen without reading, time still brings some that nobody writes. */
  private static final long LONGEST_BLIND_NANOS = 100_000_000;

  /** What it reads of the database. */
  public interface Queues {
    /** A number that changes when someone writes; -1 if there is none. */
    long changes();

    /** Who seems to have the turn, of all who wait for these names, be it here or elsewhere. */
    Turn turn(List<String> names);

    /** Tells the database that these are alive, who wait for these names, and queues. */
    Signs beat(List<Owner> owners, List<String> names);
  }

  /**
   * What a look found.
   *
   * @param first who should ask
   * @param nanosUntilEnd how long until someone's time may be over
   */
  public record Turn(List<Owner> first, long nanosUntilEnd) {}

  /**
   * What came of a sign of life.
   *
   * @param alive who is still in a queue
   * @param turn who should ask
   */
  public record Signs(Set<Owner> alive, Turn turn) {}

  /** A claim that waits. */
  static final class Waiting {
    private static final AtomicLong COUNT = new AtomicLong();

    private final ClaimRequest request;
    private final QueuedClaim claim;
    private final long since;

    /** Whether it has been asked for, and has not come back to wait. */
    private volatile boolean asked;

    Waiting(ClaimRequest request, QueuedClaim claim, @Nullable Waiting before) {
      this.request = request;
      this.claim = claim;
      this.since = before == null ? COUNT.incrementAndGet() : before.since;
    }

    String id() {
      return request.owner().id();
    }

    void ask() {
      asked = true;
      claim.ask();
    }
  }

  private final StoreContext context;
  private final Supplier<PollInterval> polling;
  private final Queues queues;
  private final Runnable untold;

  // Guarded by this.
  private final Map<Owner, Waiting> waiting = new LinkedHashMap<>();
  private final Map<String, Owner> byId = new LinkedHashMap<>();
  private final Map<String, Integer> byName = new LinkedHashMap<>();
  private Time.@Nullable Timer timer;
  private boolean looking;
  private boolean lookAgain;

  /** Whether someone waits of whom the last look did not know. */
  private boolean hasNew;

  private long endNanos = Long.MAX_VALUE;
  private final Map<String, Boolean> earlyHints =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
          return size() > EARLY_HINTS;
        }
      };
  private boolean closed;
  private long pauseNanos;
  private long beatDueNanos;

  /** Whether nobody waits; written as the others, read without: most claims never wait. */
  private volatile boolean empty = true;

  // Only touched by the look under way.
  private long lastChanges = -1;
  private long lastLookNanos;

  /**
   * Nobody waits yet.
   *
   * @param polling how often to look, as things are
   * @param untold called when a look has found what a message should have told
   */
  public QueuePoller(
      StoreContext context, Supplier<PollInterval> polling, Queues queues, Runnable untold) {
    this.context = context;
    this.polling = polling;
    this.queues = queues;
    this.untold = untold;
    this.pauseNanos = polling.get().shortest().toNanos();
  }

  /** How long a claim stays in the queue without being heard of. */
  public static Duration patience(ClaimRequest request) {
    Duration lease = request.lease();
    Duration longest = lease.compareTo(LONGEST_PATIENCE) < 0 ? lease : LONGEST_PATIENCE;
    return longest.compareTo(SHORTEST_PATIENCE) < 0 ? SHORTEST_PATIENCE : longest;
  }

  /**
   * A claim waits from now on, or still does.
   *
   * @param told how long until it has to be looked for, where it is told for sure before; null if
   *     that is not known
   */
  public synchronized void add(ClaimRequest request, QueuedClaim claim, @Nullable Duration told) {
    Waiting last = waiting.get(request.owner());
    Waiting before = waiting.put(request.owner(), new Waiting(request, claim, last));
    empty = false;
    if (before != null && before.claim != claim) {
      before.claim.stop(); // Its answer was lost on the way, and the runtime has asked once more.
    } else if (before == null) {
      hasNew = true;
      byId.put(request.owner().id(), request.owner());
      byName.merge(request.name(), 1, Integer::sum);
      long due = context.time().nanos() + beatNanos(patience(request));
      boolean isSooner = waiting.size() == 1 || due - beatDueNanos < 0;
      beatDueNanos = isSooner ? due : beatDueNanos;
      if (told == null) {
        restart();
      } else {
        goOn(told.toNanos());
      }
      if (earlyHints.remove(request.owner().id()) != null) {
        claim.ask();
      }
    } else if (told != null) {
      noLaterThan(told.toNanos());
    }
  }

  /** One that has asked in vain knows when to look; someone else's end may be sooner. */
  private void noLaterThan(long nanosUntilEnd) {
    long end = context.time().nanos() + nanosUntilEnd;
    endNanos = endNanos == Long.MAX_VALUE || end - endNanos < 0 ? end : endNanos;
    cancelTimer();
    arm();
  }

  /** As {@link #restart}, where nothing is to be looked for until someone's time is over. */
  private void goOn(long nanosUntilEnd) {
    boolean isFirst = waiting.size() == 1;
    long end = context.time().nanos() + nanosUntilEnd;
    if (isFirst) {
      pauseNanos = polling.get().longest().toNanos();
    }
    endNanos = isFirst || endNanos == Long.MAX_VALUE ? end : endNanos - end < 0 ? endNanos : end;
    cancelTimer();
    arm();
  }

  /** Looks often at first, also for a claim that has waited before: a message may be lost. */
  synchronized void beginAnew() {
    if (!waiting.isEmpty()) {
      restart();
    }
  }

  /** A claim no longer waits; gives it if it did. */
  public @Nullable QueuedClaim remove(Owner owner) {
    if (empty) {
      return null;
    }
    synchronized (this) {
      Waiting removed = waiting.remove(owner);
      if (removed == null) {
        return null;
      }
      byId.remove(owner.id());
      byName.computeIfPresent(
          removed.request.name(), (name, count) -> count == 1 ? null : count - 1);
      empty = waiting.isEmpty();
      return removed.claim;
    }
  }

  public boolean has(Owner owner) {
    if (empty) {
      return false;
    }
    synchronized (this) {
      return waiting.containsKey(owner);
    }
  }

  /** How many claims wait. */
  int size() {
    if (empty) {
      return 0;
    }
    synchronized (this) {
      return waiting.size();
    }
  }

  /** A message names who is next; gives whether it waits here. */
  boolean hint(String id) {
    Waiting next = named(id);
    if (next != null) {
      ask(next);
    }
    return next != null;
  }

  /** As {@link #hint}, where asking does not block: one thread less has to wake up. */
  void hintNow(String id) {
    Waiting next = named(id);
    if (next != null) {
      next.ask();
    }
  }

  /** Adds of each name the first who waits and has not been asked for. */
  synchronized void addQuiet(Map<String, Waiting> first) {
    for (Waiting one : waiting.values()) {
      if (!one.asked) {
        first.merge(one.request.name(), one, (a, b) -> a.since < b.since ? a : b);
      }
    }
  }

  /** Removes names for which someone has been asked for. */
  synchronized void removeAsked(Set<String> names) {
    for (Waiting one : waiting.values()) {
      if (one.asked) {
        names.remove(one.request.name());
      }
    }
  }

  /**
   * Looks for others, too, once.
   *
   * @param thread where; null for one of ours
   * @param hint hears who should ask
   * @param failed called if it can't look: whoever waits hears what is wrong when it looks by
   *     itself
   */
  void look(List<String> names, @Nullable Executor thread, Consumer<String> hint, Runnable failed) {
    Executor executor = thread == null ? context.time().lane(Lane.WORK) : thread;
    executor.execute(
        () -> {
          try {
            queues.turn(names).first.forEach(owner -> hint.accept(owner.id()));
          } catch (RuntimeException e) {
            failed.run();
          }
        });
  }

  private synchronized @Nullable Waiting named(String id) {
    Owner owner = byId.get(id);
    if (owner == null && !closed) {
      earlyHints.put(id, true);
    }
    return owner == null ? null : waiting.get(owner);
  }

  /** Something has changed, but not for whom: looks at once. */
  void soon() {
    if (empty) {
      return;
    }
    synchronized (this) {
      if (waiting.isEmpty() || closed) {
        return;
      }
      pauseNanos = polling.get().shortest().toNanos();
      if (looking) {
        lookAgain = true;
        return;
      }
      cancelTimer();
      looking = true;
    }
    context.time().lane(Lane.WORK).execute(() -> look(true));
  }

  /** Ends looking, and gives the claims that still wait. */
  public synchronized List<QueuedClaim> close() {
    closed = true;
    cancelTimer();
    List<QueuedClaim> left = waiting.values().stream().map(one -> one.claim).toList();
    waiting.clear();
    empty = true;
    byId.clear();
    byName.clear();
    earlyHints.clear();
    return left;
  }

  private void arm() {
    if (closed || looking || timer != null || waiting.isEmpty()) {
      return;
    }
    long now = context.time().nanos();
    long jitter = (long) (context.random().nextDouble() * pauseNanos / 4);
    long untilBeat = Math.max(0, beatDueNanos - now);
    long pause = untilBeat <= pauseNanos ? untilBeat : pauseNanos - jitter;
    if (endNanos != Long.MAX_VALUE) {
      pause = Math.min(pause, Math.max(SHORTEST_PAUSE_NANOS, endNanos - now));
    }
    timer = context.time().schedule(pause, this::tick);
    pauseNanos = Math.min(pauseNanos * 2, polling.get().longest().toNanos());
  }

  /** Someone has come, or something has happened: looks soon, if it would not do so anyway. */
  private void restart() {
    pauseNanos = polling.get().shortest().toNanos();
    cancelTimer();
    arm();
  }

  private void tick() {
    synchronized (this) {
      timer = null;
      if (closed || looking || waiting.isEmpty()) {
        return;
      }
      looking = true;
    }
    context.time().lane(Lane.WORK).execute(() -> look(false));
  }

  private void look(boolean surely) {
    List<Waiting> ready = List.of();
    boolean isExpected = surely || isEndOver();
    try {
      ready = isBeatDue() ? beat() : inTurn(surely);
      if (!isExpected && ready.stream().anyMatch(one -> !one.asked)) {
        untold.run();
      }
    } catch (RuntimeException e) {
      // Whoever waits is asked for again, and hears from that what is wrong.
      ready = all();
    } finally {
      boolean again;
      synchronized (this) {
        looking = false;
        again = lookAgain;
        lookAgain = false;
        if (!ready.isEmpty()) {
          pauseNanos = polling.get().shortest().toNanos();
        }
        if (!again) {
          arm();
        }
      }
      ready.forEach(this::ask);
      if (again) {
        soon();
      }
    }
  }

  private synchronized boolean isEndOver() {
    return endNanos != Long.MAX_VALUE && context.time().nanos() - endNanos >= 0;
  }

  private synchronized boolean isBeatDue() {
    long now = context.time().nanos();
    boolean due = !waiting.isEmpty() && now - beatDueNanos >= 0;
    if (due) {
      beatDueNanos = now + beatNanos();
    }
    return due;
  }

  private synchronized List<Waiting> all() {
    return new ArrayList<>(waiting.values());
  }

  /** Says that all are alive, and queues. */
  private List<Waiting> beat() {
    boolean unused = takeNew();
    List<Waiting> all = all();
    List<Owner> owners = all.stream().map(one -> one.request.owner()).toList();
    lastLookNanos = context.time().nanos();
    lastChanges = queues.changes();
    Signs signs = queues.beat(owners, names());
    Set<Waiting> ready = new LinkedHashSet<>(found(signs.turn, lastLookNanos));
    // One that is no longer in the queue was thought dead: it has to ask for a new place.
    all.stream().filter(one -> !signs.alive.contains(one.request.owner())).forEach(ready::add);
    return List.copyOf(ready);
  }

  /** Those of this process who are the first of their queues. */
  private List<Waiting> inTurn(boolean surely) {
    boolean isNew = takeNew();
    List<String> names = names();
    long now = context.time().nanos();
    long changes = queues.changes();
    boolean blind = changes >= 0 && changes == lastChanges && !isNew;
    if (names.isEmpty() || (blind && !surely && isTooSoon(now))) {
      return List.of();
    }
    lastChanges = changes;
    lastLookNanos = now;
    return found(queues.turn(names), now);
  }

  /** Whether nothing can have changed that nobody wrote. */
  private synchronized boolean isTooSoon(long now) {
    boolean isKnown = endNanos != Long.MAX_VALUE;
    return isKnown ? now - endNanos < 0 : now - lastLookNanos < LONGEST_BLIND_NANOS;
  }

  /** What was written may have been seen by a look that was begun before they came. */
  private synchronized boolean takeNew() {
    boolean isNew = hasNew;
    hasNew = false;
    return isNew;
  }

  private synchronized List<String> names() {
    return List.copyOf(byName.keySet());
  }

  private synchronized List<Waiting> found(Turn turn, long lookedNanos) {
    boolean hasEnd = turn.nanosUntilEnd != Long.MAX_VALUE;
    endNanos = hasEnd ? lookedNanos + turn.nanosUntilEnd : Long.MAX_VALUE;
    return turn.first.stream().map(waiting::get).filter(Objects::nonNull).toList();
  }

  private void ask(Waiting next) {
    next.asked = true;
    context.time().lane(Lane.WORK).execute(next.claim::ask);
  }

  private long beatNanos() {
    Duration shortest = LONGEST_PATIENCE;
    for (Waiting one : waiting.values()) {
      Duration patience = patience(one.request);
      shortest = patience.compareTo(shortest) < 0 ? patience : shortest;
    }
    return beatNanos(shortest);
  }

  private static long beatNanos(Duration patience) {
    return Math.max(patience.toNanos() / 3, patience.minus(LEEWAY).toNanos());
  }

  private void cancelTimer() {
    if (timer != null) {
      timer.cancel();
      timer = null;
    }
  }
}
