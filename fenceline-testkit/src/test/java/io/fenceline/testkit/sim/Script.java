package io.fenceline.testkit.sim;

import io.fenceline.settings.HandOff;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;

/**
 * All that people and faults do in one seed, drawn before anything runs: what is left out of it
 * later, to find out what a failure needs, does not change the rest.
 *
 * @param seed where it comes from; also of the delays on the way
 * @param machines how many processes
 * @param pooled whether claims and releases overtake each other
 * @param direct whether the store does its work on the thread that asks
 * @param blocking whether listeners and the log stand still at times
 * @param handOff what the clients allow
 * @param steps in order of their time
 */
record Script(
    long seed,
    int machines,
    boolean pooled,
    boolean direct,
    boolean blocking,
    HandOff handOff,
    List<Script.Step> steps) {

  /** Something that one of the machines, or the world, does at a time. */
  record Step(int atMillis, int machine, Act act) {
    @Override
    public String toString() {
      return "at %5d ms, m%d: %s".formatted(atMillis, machine, act);
    }
  }

  static Script of(long seed) {
    return new Writer(seed).write();
  }

  Script with(List<Step> fewer) {
    return new Script(seed, machines, pooled, direct, blocking, handOff, List.copyOf(fewer));
  }

  int endMillis() {
    return steps.isEmpty() ? 0 : steps.get(steps.size() - 1).atMillis;
  }

  /** Draws a script. */
  private static final class Writer {
    private static final String[] LOCKS = {"a", "b"};
    private static final String SEMAPHORE = "s";

    private final long seed;
    private final SplittableRandom random;
    private final List<Step> steps = new ArrayList<>();
    private int machines;
    private int span;

    Writer(long seed) {
      this.seed = seed;
      // Mixed: generators whose seeds are close to each other give the same numbers, shifted.
      this.random = new SplittableRandom(~new SplittableRandom(seed).nextLong());
    }

    Script write() {
      machines = 2 + random.nextInt(2);
      span = 1_000 + random.nextInt(5_000);
      int bursts = 2 + random.nextInt(5);
      for (int i = 0; i < bursts; i++) {
        burst();
      }
      int faults = random.nextInt(6);
      for (int i = 0; i < faults; i++) {
        fault(random.nextInt(span), random.nextInt(machines));
      }
      // Drawn from elsewhere: what the other seeds do stays as it is.
      SplittableRandom more = new SplittableRandom(~seed * 31);
      if (more.nextInt(1_000) < 60) {
        severalInVain(more.nextInt(span), more.nextBoolean());
      }
      steps.sort(Comparator.comparingInt(Step::atMillis));
      return new Script(
          seed,
          machines,
          random.nextBoolean(),
          chance(150),
          chance(300),
          handOff(),
          List.copyOf(steps));
    }

    private HandOff handOff() {
      return switch (random.nextInt(4)) {
        case 0 -> HandOff.NONE;
        case 1 -> HandOff.DEFAULTS;
        case 2 -> new HandOff(1 + random.nextInt(4), Duration.ofMillis(20 + random.nextInt(200)));
        default -> new HandOff(20, Duration.ofSeconds(3));
      };
    }

    /** Several callers want much the same at much the same time: without that nothing happens. */
    private void burst() {
      int at = random.nextInt(span);
      boolean semaphore = chance(150);
      String name = semaphore ? SEMAPHORE : LOCKS[chance(700) ? 0 : 1];
      Shape shape = shape();
      int callers = 2 + random.nextInt(5);
      int width = chance(500) ? 20 : 800;
      int machine = random.nextInt(machines);
      boolean oneMachine = chance(300);
      for (int i = 0; i < callers; i++) {
        int where = oneMachine ? machine : random.nextInt(machines);
        add(
            at + random.nextInt(width),
            where,
            take(name, semaphore, chance(800) ? shape : shape()));
      }
      if (chance(400)) {
        fault(at + random.nextInt(width + 200), machine);
      }
    }

    private Act.Take take(String name, boolean semaphore, Shape shape) {
      Act.How how = how(semaphore);
      int wait = pick(0, 30, 300, 2_000, 5_000, 300_000);
      int hold = chance(400) ? random.nextInt(12) : random.nextInt(1_500);
      Act.Call call =
          switch (random.nextInt(10)) {
            case 0 -> Act.Call.TRY;
            case 1 -> Act.Call.CALL_ASYNC;
            case 2, 3 -> Act.Call.BLOCKING;
            case 4 -> Act.Call.CLOSE_IN_CALLBACK;
            default -> Act.Call.ACQUIRE;
          };
      boolean fixed = !shape.options().autoRenewal();
      return new Act.Take(
          name,
          how,
          call,
          shape,
          wait,
          hold,
          chance(180) ? random.nextInt(chance(500) ? 5 : 500) : -1,
          chance(200) ? random.nextInt(hold + 1) : -1,
          fixed && chance(600) ? random.nextInt(hold + 1) : -1,
          pick(200, 900, 4_000),
          chance(500) ? pick(200, 900, 4_000) : -1);
    }

    private Act.How how(boolean semaphore) {
      if (semaphore) {
        return chance(60)
            ? Act.How.WRONG_FAMILY
            : chance(600) ? Act.How.PERMIT : Act.How.TWO_PERMITS;
      }
      int draw = random.nextInt(100);
      return draw < 22 ? Act.How.SHARED : draw < 30 ? Act.How.ALL : Act.How.EXCLUSIVE;
    }

    private Shape shape() {
      Shape[] all = Shape.values();
      return all[random.nextInt(all.length)];
    }

    private void fault(int at, int machine) {
      switch (random.nextInt(22)) {
        case 0 -> add(at, machine, new Act.Pause(pick(40, 400, 900, 2_500)));
        case 1 -> add(at, machine, new Act.Suspend(pick(100, 700, 2_500)));
        case 2 -> add(at, machine, new Act.Die(random.nextInt(1_000)));
        case 3, 4 -> add(at, machine, new Act.Close(random.nextInt(500)));
        case 5 -> add(at, machine, new Act.WallJump(pick(-3_000, -200, 150, 5_000)));
        case 6, 7 -> add(at, machine, new Act.Force(LOCKS[random.nextInt(2)]));
        case 8 -> add(at, machine, new Act.ListAll());
        case 9 -> interrupt(at, machine);
        case 10 -> add(at, machine, new Act.ServerPause(pick(20, 200, 1_200)));
        case 11 -> add(at, machine, new Act.ServerRestart(pick(100, 700, 2_000)));
        case 12 -> add(at, machine, new Act.FailOver(60 + random.nextInt(800), pick(20, 150, 600)));
        case 13 -> add(at, machine, new Act.ClockJump(pick(-5_000, -300, 250, 700, 10_000)));
        case 14 -> giveUpUnheard(at, machine);
        case 15 -> outstay(at, machine);
        default -> trouble(at, machine);
      }
    }

    /** Someone waits in a blocking call, and does not get far. */
    private void interrupt(int at, int machine) {
      Shape shape = shape();
      add(
          at,
          machine,
          new Act.Take(
              "a", Act.How.EXCLUSIVE, Act.Call.BLOCKING, shape, 5_000, 50, -1, -1, -1, 0, -1));
      add(at + random.nextInt(8), machine, new Act.Interrupt());
    }

    /** Someone gives up while the claim is under way, and hears nothing more of it. */
    private void giveUpUnheard(int at, int machine) {
      add(
          at,
          machine,
          new Act.Trouble(Network.Trouble.LOSES_REPLIES, false, Network.Wire.CLAIMS, 100, 500));
      add(
          at,
          machine,
          new Act.Take(
              "a", Act.How.EXCLUSIVE, Act.Call.ACQUIRE, Shape.LONG, 5_000, 50, 0, -1, -1, 0, -1));
    }

    /** Someone takes a lock by a blocking call, and holds it for longer than its lease. */
    private void outstay(int at, int machine) {
      Act.How how = Act.How.values()[pick(0, 1, 5)];
      Shape shape = chance(500) ? Shape.INTERRUPTED : Shape.RETRYING_INTERRUPTED;
      add(
          at,
          machine,
          new Act.Take("b", how, Act.Call.BLOCKING, shape, 2_000, 1_500, -1, -1, -1, 0, -1));
    }

    /** Someone takes several locks, and has one of them for long before it could have the other. */
    private void severalInVain(int at, boolean outlivesTheLease) {
      add(
          at,
          1,
          new Act.Take(
              "b", Act.How.EXCLUSIVE, Act.Call.ACQUIRE, Shape.LONG, 30, 900, -1, -1, -1, 0, -1));
      Act.Call call = outlivesTheLease ? Act.Call.BLOCKING : Act.Call.ACQUIRE;
      Shape shape = outlivesTheLease ? Shape.FIXED : Shape.KEPT;
      int wait = outlivesTheLease ? 5_000 : 300;
      add(at + 20, 0, new Act.Take("a", Act.How.ALL, call, shape, wait, 50, -1, -1, -1, 0, -1));
    }

    private void trouble(int at, int machine) {
      Network.Trouble[] troubles = Network.Trouble.values();
      Network.Trouble trouble = troubles[random.nextInt(troubles.length)];
      Network.Wire wire =
          switch (random.nextInt(5)) {
            case 0 -> Network.Wire.CLAIMS;
            case 1 -> Network.Wire.RENEWALS;
            case 2 -> Network.Wire.PUSHES;
            default -> null;
          };
      if (wire == Network.Wire.PUSHES && trouble != Network.Trouble.SLOW) {
        trouble = Network.Trouble.LOSES_REPLIES;
      }
      int share =
          trouble == Network.Trouble.SLOW ? pick(3, 30, 400, 900, 1_600) : pick(150, 500, 1_000);
      if (wire == Network.Wire.PUSHES && trouble == Network.Trouble.LOSES_REPLIES) {
        share = 1_000; // There are few of them.
      }
      int length = pick(100, 500, 1_000, 2_500);
      add(at, machine, new Act.Trouble(trouble, chance(300), wire, length, share));
    }

    private void add(int at, int machine, Act act) {
      steps.add(new Step(at, machine, act));
    }

    private boolean chance(int inThousand) {
      return random.nextInt(1_000) < inThousand;
    }

    private int pick(int... values) {
      return values[random.nextInt(values.length)];
    }
  }
}
