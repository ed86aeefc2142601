package io.fenceline.memory;

import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Moment;
import io.fenceline.spi.Owner;
import io.fenceline.spi.StoreFactory;
import io.fenceline.spi.Time;
import io.fenceline.spi.Validity;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A set of names in memory, shared by the clients that connect to it: the server's side.
 *
 * <p>{@code memory:} and {@code memory:some-name} give one such space for the whole process; tests
 * make their own.
 */
public final class MemorySpace {
  private final String name;
  private final LockTable table;
  private final Map<Owner, Waiting> waiting = new HashMap<>();

  /** A claim that waits: whom to tell. */
  private record Waiting(ClaimHandler handler, MemoryStore store) {}

  private MemorySpace(String name, LockTable table) {
    this.name = name;
    this.table = table;
  }

  /** An empty space with a clock of its own. */
  public static MemorySpace create(LongSupplier clockMillis) {
    return over(tableWith(clockMillis));
  }

  /** A space over a given table; for tests of tables. */
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
   * Does something at the server, then tells those who were granted by it.
   *
   * @param now before the doing: their leases count from then
   */
  <T> T serve(Moment now, Function<LockTable, T> request) {
    T answer;
    List<LockTable.Push> pushes;
    Map<LockTable.Push, Waiting> told;
    synchronized (this) {
      answer = request.apply(table);
      pushes = table.takePushes();
      told = pushes.isEmpty() ? Map.of() : new HashMap<>();
      for (LockTable.Push push : pushes) {
        Waiting waiter = waiting.remove(push.claim().owner());
        if (waiter != null) {
          told.put(push, waiter);
        }
      }
    }
    for (LockTable.Push push : pushes) {
      Waiting waiter = told.get(push);
      if (waiter != null) {
        waiter.handler.granted(new Grant(push.number(), new Validity(now, push.length())));
      }
    }
    return answer;
  }

  /** Remembers whom to tell; called by the request that was answered with "waiting". */
  void await(Owner owner, ClaimHandler handler, MemoryStore store) {
    waiting.put(owner, new Waiting(handler, store));
  }

  /** Forgets whom to tell; null if there was nobody. */
  @Nullable ClaimHandler forget(Owner owner) {
    Waiting waiter = waiting.remove(owner);
    return waiter == null ? null : waiter.handler;
  }

  /** Forgets all that wait through one store, and gives them. */
  synchronized List<ClaimHandler> forgetAll(MemoryStore store) {
    List<ClaimHandler> left =
        waiting.values().stream().filter(w -> w.store == store).map(Waiting::handler).toList();
    waiting.values().removeIf(w -> w.store == store);
    return left;
  }

  /** How many names there is anything of. */
  public synchronized int size() {
    return table.size();
  }
}
