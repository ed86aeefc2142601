package io.fenceline.testkit.sim;

import io.fenceline.FencelineException;
import io.fenceline.memory.LockTable;
import io.fenceline.spi.Owner;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The server: a lock table with a clock that can be set, and a state that can be lost. */
final class Server extends Host {
  static final Duration HAND_OVER = Duration.ofMillis(500);
  static final Duration PATIENCE = Duration.ofSeconds(3);

  /**
   * What a request does.
   *
   * @param what for the timeline
   * @param kind which one
   * @param names the names that it may touch
   * @param owners for each name the owner that asks, or null
   * @param number the grant that is to be released by force, or zero
   */
  record Request<T>(
      String what,
      Kind kind,
      List<String> names,
      List<Owner> owners,
      long number,
      Function<LockTable, T> action) {}

  /** The requests. */
  enum Kind {
    CLAIM,
    WITHDRAW,
    RENEW,
    RELEASE,
    FORCE,
    LOOK
  }

  private final Map<Owner, SimStore> routes = new HashMap<>();
  private final History history;
  private LockTable table;
  private @Nullable LockTable snapshot;
  private long clockOffsetNanos;
  private int down;

  Server(World world, History history) {
    super(world, "server");
    this.history = history;
    this.table = new LockTable(this::clockMillis, HAND_OVER, PATIENCE);
    history.watch(this);
  }

  LockTable table() {
    return table;
  }

  long clockMillis() {
    return Machine.WALL_START_MILLIS + Math.floorDiv(world.now() + clockOffsetNanos, World.MILLI);
  }

  /** When the server's clock will show this, if it is not set again. */
  long realTimeOf(long clockMillis) {
    return (clockMillis - Machine.WALL_START_MILLIS) * World.MILLI - clockOffsetNanos;
  }

  /** Does a request that has arrived; the answer or the error is handed on. */
  <T> void serve(
      SimStore from,
      Request<T> request,
      BiConsumer<@Nullable T, @Nullable RuntimeException> answer) {
    if (down > 0) {
      world.tally.add(Count.REQUESTS_LOST);
      world.note(name, "is down, and does not hear %s", request.what);
      return;
    }
    T given = null;
    RuntimeException refused = null;
    history.before(request);
    if (request.kind == Kind.CLAIM) {
      routes.put(request.owners.get(0), from);
    }
    try {
      given = request.action.apply(table);
    } catch (FencelineException e) {
      refused = e;
    }
    world.note(name, "%s -> %s", request.what, refused == null ? given : refused.getMessage());
    history.after(request);
    push();
    answer.accept(given, refused);
  }

  private void push() {
    for (LockTable.Push push : table.takePushes()) {
      SimStore to = routes.get(push.claim().owner());
      world.tally.add(Count.PUSHES);
      world.note(name, "hands %s over to %s", push.claim().name(), push.claim().owner());
      if (to != null) {
        to.push(push);
      }
    }
  }

  // Faults. -------------------------------------------------------------------------------------

  void restart(long nanos) {
    world.tally.add(Count.SERVER_RESTARTS);
    goDown(nanos);
  }

  private void goDown(long nanos) {
    down++;
    world.after(
        nanos,
        "server up",
        () -> {
          down--;
          world.note(name, "is up again");
        });
  }

  /** Remembers what a failover will come back with. */
  void snapshot() {
    snapshot = table.copy();
  }

  /** Goes down, and comes back as it was at the last snapshot. */
  void failOver(long nanos) {
    if (snapshot == null) {
      return;
    }
    world.tally.add(Count.FAILOVERS);
    goDown(nanos);
    table = snapshot;
    snapshot = null;
    history.forgot();
  }

  void jumpClock(long nanos) {
    world.tally.add(nanos < 0 ? Count.SERVER_CLOCK_BACK : Count.SERVER_CLOCK_FORWARD);
    clockOffsetNanos += nanos;
    history.clockJumped(nanos > 0);
    push();
  }
}
