package io.fenceline.testkit.sim;

import io.fenceline.Fenceline;
import io.fenceline.event.LockEvent;
import io.fenceline.event.LockListener;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testkit.sim.Script.Step;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** Plays a script: first with all its faults, then healed, until nothing may be left of it. */
@SuppressWarnings("MustBeClosedChecker") // Clients are closed when the script says so.
final class Run {
  /** What a client that lives has to have cleaned up by then: a timeout and the longest retry. */
  private static final Duration CLEANED_UP = Duration.ofSeconds(12);

  /** How long an interrupt of the script may take until it is heard. */
  private static final long AN_INTERRUPT = 20 * World.MILLI;

  /** Far beyond what the callers that are left can take one after another. */
  private static final Duration SERVED = Duration.ofSeconds(90);

  final World world;
  final Script script;
  final History history;
  final Server server;
  final Network network;
  final Beliefs beliefs;
  final Register register;
  private final ToIntFunction<Fenceline> leftovers;
  private final List<Acquisition> acquisitions = new ArrayList<>();
  private final List<Slot> slots = new ArrayList<>();
  private final List<Machine> machines = new ArrayList<>();
  private final Set<Fenceline> closed = new HashSet<>();
  private int incarnations;
  private int clients;
  private boolean healed;
  private boolean blocked;
  private long interruptedOnPurpose = -AN_INTERRUPT;

  /** A place for a process: the one that runs there now, and its client. */
  private final class Slot {
    final int number;
    Machine machine;
    @Nullable Fenceline client;
    String label = "";

    Slot(int number) {
      this.number = number;
      this.machine = newMachine(number);
      connect();
    }

    void start() {
      machine = newMachine(number);
      connect();
    }

    void connect() {
      label = machine.name + "/" + clients++;
      client = Run.this.connect(machine, label);
    }
  }

  Run(Script script, boolean recorded, ToIntFunction<Fenceline> leftovers) {
    this.script = script;
    this.leftovers = leftovers;
    this.world = new World(script.seed(), recorded);
    this.history = new History(world);
    this.server = new Server(world, history);
    this.network = new Network(world, server, script.pooled());
    this.beliefs = new Beliefs(world, server, history);
    this.register = new Register(world);
    world.checkAfterEachStep(this::check);
  }

  private void check() {
    if (Thread.interrupted()) {
      if (wasInterruptedOnPurpose()) {
        Thread.currentThread().interrupt(); // Whoever waits in a blocking call will hear of it.
      } else {
        world.interrupted();
      }
    }
    beliefs.check();
  }

  /** Whether the thread was interrupted by the script of late, and not by a loss. */
  boolean wasInterruptedOnPurpose() {
    return world.now() - interruptedOnPurpose < AN_INTERRUPT;
  }

  /** Someone logs: the log may stand still, like a terminal. */
  void logged() {
    if (script.blocking() && world.running() != null && world.chance(100)) {
      world.tally.add(Count.BLOCKED_LOG_LINES);
      world.note("*", "the log stands still");
      world.block(pick(200, 1_500, 4_000) * World.MILLI);
    }
  }

  private int pick(int... values) {
    return values[world.below(values.length)];
  }

  /** A listener that stands still at times. */
  private LockListener listener() {
    return new LockListener() {
      @Override
      public void on(LockEvent event) {
        if (script.blocking() && world.chance(20)) {
          world.tally.add(Count.BLOCKED_LISTENERS);
          world.block(pick(20, 300, 1_500) * World.MILLI);
        }
      }
    };
  }

  /**
   * Plays it to the end.
   *
   * @throws Violation if something did not hold
   */
  void play() {
    for (int i = 0; i < script.machines(); i++) {
      slots.add(new Slot(i));
    }
    for (Step step : script.steps()) {
      long at = step.atMillis() * World.MILLI;
      if (step.act() instanceof Act.FailOver failOver) {
        long before = Math.max(0, at - failOver.forgotten() * World.MILLI);
        world.after(before, "snapshot", server::snapshot);
      }
      world.after(at, "script", () -> new Deed(step).play());
    }
    world.runUntil((script.endMillis() + 1) * World.MILLI);
    heal();
    letAllFinish();
    passes(CLEANED_UP);
    checkCleanedUp();
    passes(Shape.LONGEST.multipliedBy(2));
    checkAllNamesFree();
    closeAll();
  }

  private void passes(Duration duration) {
    world.runUntil(world.now() + duration.toNanos());
  }

  // Machines and clients. -----------------------------------------------------------------------

  private Machine newMachine(int number) {
    SplittableRandom random = world.random;
    Machine machine =
        new Machine(
            world,
            "m" + number + (incarnations < script.machines() ? "" : "." + incarnations),
            random.nextInt(-2_000, 2_000),
            random.nextLong(1L << 40),
            random.nextLong(-5_000, 5_000) * World.MILLI + random.nextInt(1_000_000));
    incarnations++;
    machines.add(machine);
    return machine;
  }

  private Fenceline connect(Machine machine, String label) {
    return Fenceline.builder()
        .store(
            (StoreFactory)
                context ->
                    new SimStore(machine, network, server, history, context, script.direct()))
        .listener(listener())
        .label(label)
        .operationTimeout(Duration.ofSeconds(1))
        .handOff(script.handOff())
        .time(machine)
        .random(world.random.split())
        .connect();
  }

  boolean isClosed(Fenceline client) {
    return closed.contains(client);
  }

  /** One blocking call at a time: there is only one thread to block. */
  boolean mayBlock() {
    return !blocked;
  }

  void blocked(boolean now) {
    blocked = now;
    boolean unused = Thread.interrupted();
  }

  private void close(Slot slot) {
    Fenceline client = slot.client;
    if (client == null) {
      return;
    }
    slot.client = null;
    closed.add(client);
    history.closing(slot.label);
    world.tally.add(Count.CLIENT_CLOSES);
    world.note(slot.machine.name, "closes its client");
    Machine machine = slot.machine;
    beliefs.closing(machine);
    try {
      client.close();
    } catch (Machine.Died e) {
      return;
    }
    beliefs.closed(machine);
    world.note(machine.name, "has closed its client");
  }

  // Deeds. --------------------------------------------------------------------------------------

  /** One step of the script. */
  private final class Deed {
    private final int number;
    private final Act act;
    private final Slot slot;

    Deed(Step step) {
      this.number = step.machine();
      this.act = step.act();
      this.slot = slots.get(number);
    }

    void play() {
      if (!(act instanceof Act.Take)) {
        world.note("*", "%s (m%d)", act, number);
      }
      if (act instanceof Act.Trouble trouble) {
        network.trouble(
            trouble.trouble(),
            trouble.everyone() ? null : slot.machine,
            trouble.wire(),
            trouble.millis() * World.MILLI,
            trouble.share());
      } else if (act instanceof Act.ServerPause pause) {
        world.tally.add(Count.SERVER_PAUSES);
        server.pause(pause.millis() * World.MILLI);
      } else if (act instanceof Act.ServerRestart restart) {
        server.restart(restart.millis() * World.MILLI);
      } else if (act instanceof Act.FailOver failOver) {
        server.failOver(failOver.millis() * World.MILLI);
      } else if (act instanceof Act.ClockJump jump) {
        server.jumpClock(jump.millis() * World.MILLI);
      } else if (act instanceof Act.Interrupt) {
        if (blocked) {
          interruptedOnPurpose = world.now();
          Thread.currentThread().interrupt();
        }
      } else {
        onMachine(slot.machine);
      }
    }

    private void onMachine(Machine machine) {
      if (act instanceof Act.Pause pause) {
        world.tally.add(Count.CLIENT_PAUSES);
        machine.pause(pause.millis() * World.MILLI);
      } else if (act instanceof Act.Suspend suspend) {
        if (machine.suspend(suspend.millis() * World.MILLI)) {
          world.tally.add(Count.CLIENT_SUSPENDS);
        }
      } else if (act instanceof Act.WallJump jump) {
        if (machine.jumpWall(jump.millis() * World.MILLI)) {
          world.tally.add(Count.CLIENT_CLOCK_JUMPS);
        }
      } else if (act instanceof Act.Die die) {
        world.tally.add(Count.CLIENT_DEATHS);
        machine.die();
        slot.client = null;
        world.after(die.restartAfter() * World.MILLI, "new process", slot::start);
      } else if (act instanceof Act.Close close) {
        machine.user(0, "close", () -> closeAndReopen(machine, close));
      } else {
        machine.user(0, "call", () -> call(machine));
      }
    }

    private void closeAndReopen(Machine machine, Act.Close close) {
      if (slot.machine != machine) {
        return;
      }
      close(slot);
      machine.user(
          close.reopenAfter() * World.MILLI,
          "reopen",
          () -> {
            if (slot.machine == machine && slot.client == null) {
              slot.connect();
            }
          });
    }

    private void call(Machine machine) {
      Fenceline client = slot.client;
      if (client == null || slot.machine != machine) {
        return;
      }
      if (act instanceof Act.Take take) {
        Acquisition acquisition = new Acquisition(Run.this, machine, client, take);
        acquisitions.add(acquisition);
        acquisition.start();
      } else if (act instanceof Act.Force force) {
        client
            .inspectAsync(force.name())
            .thenAccept(
                report -> {
                  if (!report.holders().isEmpty() && !isClosed(client)) {
                    client.forceReleaseAsync(force.name(), report.holders().get(0).token());
                  }
                });
      } else if (act instanceof Act.ListAll) {
        client.listAsync("", 10).thenAccept(all -> {});
      }
    }
  }

  // The end. ------------------------------------------------------------------------------------

  private void heal() {
    world.note("*", "all faults are over");
    network.heal();
    healed = true;
  }

  private void letAllFinish() {
    // First those that stand still: when they go on, they may have calls to make.
    for (Slot slot : slots) {
      while (!slot.machine.isRunning()) {
        passes(Duration.ofMillis(100));
      }
    }
    passes(Duration.ofMillis(10));
    long latest = world.now() + SERVED.toNanos();
    while (!acquisitions.stream().allMatch(Acquisition::isOver)) {
      if (world.now() > latest) {
        throw world.violated(Invariant.I7, "a caller was not served, long after all had healed");
      }
      passes(Duration.ofMillis(100));
    }
  }

  private void checkCleanedUp() {
    Set<String> living = new HashSet<>();
    for (Slot slot : slots) {
      Fenceline client = slot.client;
      if (client != null) {
        living.add(slot.label);
        int left = leftovers.applyAsInt(client);
        if (left != 0) {
          throw world.violated(
              Invariant.I7, slot.machine + " still has " + left + " holds or names");
        }
      }
    }
    history.checkOrphans(living, beliefs.held());
  }

  private void checkAllNamesFree() {
    Slot probe = new Slot(script.machines());
    Fenceline client = java.util.Objects.requireNonNull(probe.client);
    Map<String, java.util.concurrent.CompletableFuture<?>> tries = new LinkedHashMap<>();
    tries.put("a", client.lock("a").tryAcquireAsync());
    tries.put("b", client.lock("b").tryAcquireAsync());
    tries.put("s", client.semaphore("s", 9).several(9).tryAcquireAsync());
    passes(Duration.ofSeconds(1));
    tries.forEach(
        (name, answer) -> {
          if (!answer.isDone()
              || !(answer.join() instanceof java.util.Optional<?> found)
              || found.isEmpty()) {
            throw world.violated(
                Invariant.I7, name + " is not obtainable: " + server.table().inspect(name));
          }
        });
    slots.add(probe);
  }

  private void closeAll() {
    for (Slot slot : slots) {
      close(slot);
    }
    passes(Duration.ofSeconds(10));
    for (Machine machine : machines) {
      if (!machine.isDead() && machine.timers() != 0) {
        throw world.violated(
            Invariant.I7, machine + " has " + machine.timers() + " timers after its close");
      }
    }
    if (server.table().list("", 10).size() != 0) {
      throw world.violated(Invariant.I7, "left at the server: " + server.table().list("", 10));
    }
    if (!healed) {
      throw new IllegalStateException("a run ends healed");
    }
  }
}
