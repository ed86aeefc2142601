package io.fenceline.memory;

import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Owner;
import io.fenceline.spi.StoreFactory;
import io.fenceline.spi.Validity;
import io.fenceline.time.Lane;
import io.fenceline.time.Moment;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A set of names in memory, shared by the clients that connect to it: the server's side.
 *
 * <p>{@code memory:} and {@code memory:some-name} give one such space for the whole process; tests
 * make their own.
 */
public final class MemorySpace {
  private static final Logger LOG = LoggerFactory.getLogger("io.fenceline.memory");
  private static final long SWEEP_NANOS = 30_000_000_000L;

  private final String name;
  private final LockTable table;

  // Guarded by this.
  private final Map<Owner, Waiting> waiting = new LinkedHashMap<>();
  private final Map<String, Alarm> alarms = new HashMap<>();
  private @Nullable Alarm sweep;

  /** A claim that waits: whom to tell, and by whose time it waits. */
  private record Waiting(ClaimRequest claim, ClaimHandler handler, MemoryStore store) {}

  /** Looks at a name when something of it ends, because nobody else may do so. */
  private record Alarm(long dueNanos, MemoryStore store, Time.Timer timer) {}

  private MemorySpace(String name, LockTable table) {
    this.name = name;
    this.table = table;
  }

  /** Returns an empty space with a clock of its own. */
  public static MemorySpace create(LongSupplier clockMillis) {
    return over(tableWith(clockMillis));
  }

  /** Returns a space over a given table; for tests of tables. */
  public static MemorySpace over(LockTable table) {
    return new MemorySpace("", table);
  }

  static MemorySpace named(String name, Time time) {
    Moment start = time.now();
    return new MemorySpace(
        name,
        // The wall clock can be set; what has passed since the start can't.
        tableWith(() -> start.wallMillis() + (time.nanos() - start.nanos()) / 1_000_000));
  }

  private static LockTable tableWith(LongSupplier clockMillis) {
    // Who waits here can neither die alone nor miss a message, so nothing is short of a lease.
    Duration ever = Duration.ofDays(36_500);
    return new LockTable(clockMillis, ever, ever);
  }

  /** Opens this space as a store. */
  public StoreFactory factory() {
    return context -> new MemoryStore(this, context);
  }

  String name() {
    return name;
  }

  /**
   * Does something about a name at the server, then tells those who were granted it by that.
   *
   * @param now before the doing: their leases count from then. It is the clock of whoever made
   *     room, which is also theirs, since they are in the same process
   */
  <T> T serve(String about, Moment now, MemoryStore store, Function<LockTable, T> request) {
    Map<LockTable.Push, Waiting> told = Map.of();
    try {
      synchronized (this) {
        try {
          return request.apply(table);
        } finally {
          told = takeGranted();
          if (!waiting.isEmpty() || !alarms.isEmpty()) {
            setAlarm(about);
          }
          if (sweep == null && table.size() > 0) {
            setSweep(store);
          }
        }
      }
    } finally {
      // Also where the request failed: what it brought about counts from now, not from later.
      for (Map.Entry<LockTable.Push, Waiting> each : told.entrySet()) {
        tell(each.getKey(), each.getValue(), now);
      }
    }
  }

  /** Those who wait here and were granted what they wait for. */
  private Map<LockTable.Push, Waiting> takeGranted() {
    List<LockTable.Push> pushes = table.takePushes();
    if (pushes.isEmpty()) {
      return Map.of();
    }
    Map<LockTable.Push, Waiting> granted = new LinkedHashMap<>();
    for (LockTable.Push push : pushes) {
      Waiting waiter = waiting.remove(push.claim().owner());
      if (waiter != null) {
        granted.put(push, waiter);
      }
    }
    return granted;
  }

  private static void tell(LockTable.Push push, Waiting waiter, Moment now) {
    try {
      waiter.handler.granted(new Grant(push.number(), new Validity(now, push.length())));
    } catch (Throwable e) { // It must reach neither who made room nor the others who were granted.
      LOG.warn("A grant of lock '{}' could not be delivered", push.claim().name(), e);
    }
  }

  /** Remembers whom to tell; called within the request that was answered with "waiting". */
  void await(ClaimRequest claim, ClaimHandler handler, MemoryStore store) {
    waiting.put(claim.owner(), new Waiting(claim, handler, store));
  }

  /** Forgets whom to tell; called within a request. */
  void forget(Owner owner) {
    waiting.remove(owner);
  }

  /** Sees to it that someone looks at the name when something of it ends. */
  private void setAlarm(String about) {
    Alarm set = alarms.get(about);
    OptionalLong end = table.millisToNextEnd(about);
    MemoryStore store = end.isEmpty() ? null : storeThatWaits(about);
    if (end.isEmpty() || store == null) {
      if (set != null) {
        alarms.remove(about);
        set.timer.cancel();
      }
      return;
    }
    Time time = store.time();
    long delay = Math.max(1, end.getAsLong()) * 1_000_000;
    long due = time.nanos() + delay;
    if (set != null && set.store == store && set.dueNanos <= due) {
      return; // It may ring for nothing, and is then set anew.
    }
    if (set != null) {
      set.timer.cancel();
    }
    alarms.put(
        about,
        new Alarm(
            due,
            store,
            time.schedule(delay, () -> time.lane(Lane.WORK).execute(() -> ring(about, store)))));
  }

  /**
   * Sees to it that names are forgotten that nobody looks at again: kept closed for a while, or
   * lost with a delay.
   */
  private void setSweep(MemoryStore store) {
    if (store.isClosed()) {
      return;
    }
    Time time = store.time();
    sweep =
        new Alarm(
            time.nanos() + SWEEP_NANOS,
            store,
            time.schedule(SWEEP_NANOS, () -> time.lane(Lane.WORK).execute(() -> sweep(store))));
  }

  private synchronized void sweep(MemoryStore store) {
    if (sweep == null || sweep.store != store) {
      return;
    }
    sweep = null;
    table.sweep();
    if (table.size() > 0) {
      setSweep(store);
    }
  }

  private @Nullable MemoryStore storeThatWaits(String about) {
    for (Waiting waiter : waiting.values()) {
      if (waiter.claim.name().equals(about)) {
        return waiter.store;
      }
    }
    return null;
  }

  private void ring(String about, MemoryStore store) {
    Moment now = store.time().now();
    synchronized (this) {
      alarms.remove(about);
    }
    serve(
        about,
        now,
        store,
        served -> {
          served.settle(about);
          return served;
        });
  }

  /** Withdraws all that waits through one store, and gives whom to tell. */
  List<ClaimHandler> leave(MemoryStore store, Moment now) {
    List<Waiting> left;
    synchronized (this) {
      left = waiting.values().stream().filter(w -> w.store == store).toList();
      left.forEach(waiter -> waiting.remove(waiter.claim.owner()));
      if (sweep != null && sweep.store == store) {
        sweep.timer.cancel(); // The next request, by another store, sets its own.
        sweep = null;
      }
    }
    for (Waiting waiter : left) {
      serve(
          waiter.claim.name(),
          now,
          store,
          served -> {
            served.withdraw(waiter.claim);
            return served;
          });
    }
    return left.stream().map(Waiting::handler).toList();
  }

  /** Returns how many names there is anything of. */
  public synchronized int size() {
    return table.size();
  }
}
