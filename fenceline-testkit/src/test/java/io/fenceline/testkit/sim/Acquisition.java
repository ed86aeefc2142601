package io.fenceline.testkit.sim;

import io.fenceline.Acquirable;
import io.fenceline.ClientClosedException;
import io.fenceline.Fenceline;
import io.fenceline.FencelineException;
import io.fenceline.Held;
import io.fenceline.Hold;
import io.fenceline.LockLostException;
import io.fenceline.LockTimeoutException;
import io.fenceline.MultiHold;
import io.fenceline.PermitHold;
import io.fenceline.ReleaseOutcome;
import io.fenceline.StoreRefusedException;
import io.fenceline.spi.Mode;
import io.fenceline.testkit.sim.Act.Call;
import io.fenceline.testkit.sim.Act.How;
import io.fenceline.testkit.sim.Act.Take;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** One caller: asks for a lock, works under it, writes to what it guards, and gives it back. */
@SuppressWarnings("MustBeClosedChecker") // What it takes it releases when its script says so.
final class Acquisition {
  static final int PERMITS = 3;

  private final Run run;
  private final World world;
  private final Machine machine;
  private final Fenceline client;
  private final Take take;
  private final List<Belief> beliefs = new ArrayList<>();
  private final List<Hold> extras = new ArrayList<>();
  private @Nullable CompletableFuture<?> asked;
  private @Nullable CompletableFuture<String> work;
  private @Nullable Held held;
  private long blockedSince = -1;
  private boolean releasing;
  private boolean settled;
  private boolean done;

  Acquisition(Run run, Machine machine, Fenceline client, Take take) {
    this.run = run;
    this.world = run.world;
    this.machine = machine;
    this.client = client;
    this.take = take;
  }

  /** Whether it neither waits nor holds any more, or never will. */
  boolean isOver() {
    return done || machine.isDead();
  }

  private void note(String format, Object... values) {
    if (world.isRecorded()) {
      world.note(machine.name, take.how() + " " + take.name() + " " + format, values);
    }
  }

  // Asking. -------------------------------------------------------------------------------------

  void start() {
    try {
      ask();
    } catch (FencelineException | IllegalStateException | DriverError e) {
      failed(e);
    }
  }

  private void ask() {
    Acquirable<? extends Held> lock = lock();
    Duration wait = Duration.ofMillis(take.maxWait());
    note("%s, waiting up to %d ms (%s)", take.call(), take.maxWait(), take.shape());
    if (take.call() == Call.BLOCKING && run.mayBlock()) {
      block(lock, wait);
      return;
    }
    if (take.cancel() >= 0) {
      machine.user(take.cancel() * World.MILLI, "cancel", this::cancel);
    }
    if (take.call() == Call.CLOSE_IN_CALLBACK) {
      CompletableFuture<? extends Held> future = lock.acquireAsync(wait);
      asked = future;
      future.whenComplete(
          (value, failure) -> {
            answered(value, failure);
            if (value != null) {
              world.tally.add(Count.CLOSES_IN_CALLBACKS);
              close();
            }
          });
    } else if (take.call() == Call.TRY) {
      follow(lock.tryAcquireAsync());
    } else if (take.call() == Call.CALL_ASYNC) {
      CompletableFuture<String> result = lock.callAsync(wait, this::called);
      asked = result;
      result.whenComplete((value, failure) -> answered(value == null ? null : "done", failure));
    } else {
      follow(lock.acquireAsync(wait));
    }
  }

  private Acquirable<? extends Held> lock() {
    String name = take.name();
    return switch (take.how()) {
      case EXCLUSIVE -> client.lock(name, take.shape().options());
      case SHARED -> client.readWriteLock(name, take.shape().options()).readLock();
      case PERMIT -> client.semaphore(name, PERMITS, take.shape().options());
      case TWO_PERMITS -> client.semaphore(name, PERMITS, take.shape().options()).several(2);
      case WRONG_FAMILY -> client.semaphore(name, PERMITS + 1, take.shape().options());
      case ALL -> client.lockAll(List.of("b", "a"), take.shape().options());
    };
  }

  private void follow(CompletableFuture<?> future) {
    asked = future;
    future.whenComplete(this::answered);
  }

  private void block(Acquirable<? extends Held> lock, Duration wait) {
    run.blocked(true);
    blockedSince = world.now();
    try {
      Held taken = lock.acquire(wait);
      if (Thread.interrupted() && !run.wasInterruptedOnPurpose()) {
        world.interrupted(); // It was lost before the call had returned.
      }
      if (taken instanceof MultiHold && !taken.isValid()) {
        throw world.violated(Invariant.SOUND, "lockAll gave what was lost on the way");
      }
      took(taken);
    } catch (InterruptedException e) {
      note("interrupted");
      world.tally.add(Count.INTERRUPTS);
      if (!run.wasInterruptedOnPurpose()) {
        world.interrupted(); // All callers share one thread here: it was meant for another one.
      }
      done = true;
    } finally {
      run.blocked(false);
    }
  }

  private void cancel() {
    if (asked != null && !settled && asked.cancel(false)) {
      world.tally.add(Count.CANCELS);
      note("cancelled");
      done |= held == null;
    }
  }

  private void answered(@Nullable Object value, @Nullable Throwable failure) {
    settled = true;
    if (failure != null) {
      Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
      failed(cause == null ? failure : cause);
    } else if (value instanceof Optional<?> tried) {
      if (tried.isPresent()) {
        took((Held) tried.get());
      } else {
        note("refused");
        world.tally.add(Count.REFUSALS);
        done = true;
      }
    } else if (value instanceof Held taken) {
      took(taken);
    } else {
      note("done");
      done = true;
    }
  }

  private void failed(Throwable failure) {
    note("failed: %s", failure);
    done = true;
    if (failure instanceof LockTimeoutException) {
      world.tally.add(Count.TIMEOUTS);
    } else if (failure instanceof StoreRefusedException) {
      world.tally.add(Count.MODE_CONFLICTS);
    } else if (failure instanceof LockLostException && held == null) {
      throw world.violated(Invariant.SOUND, "lost what it never had", failure);
    } else if (!(failure instanceof FencelineException)
        && !(failure instanceof DriverError)
        && !(failure instanceof CancellationException)) {
      throw world.violated(Invariant.SOUND, "an acquire failed with " + failure, failure);
    } else if (failure instanceof ClientClosedException && !run.isClosed(client)) {
      throw world.violated(Invariant.SOUND, "an open client said that it is closed", failure);
    }
  }

  // Holding. ------------------------------------------------------------------------------------

  private CompletableFuture<String> called(Held taken) {
    CompletableFuture<String> working = new CompletableFuture<>();
    work = working;
    took(taken);
    return working;
  }

  private void took(Held taken) {
    held = taken;
    if (taken instanceof MultiHold all) {
      world.tally.add(Count.MULTI_HOLDS);
      all.holds()
          .forEach(hold -> believe(hold.name(), hold.id(), Mode.EXCLUSIVE, hold.token(), hold));
    } else if (taken instanceof Hold hold) {
      boolean exclusive = take.how() == How.EXCLUSIVE;
      world.tally.add(exclusive ? Count.EXCLUSIVE_HOLDS : Count.SHARED_HOLDS);
      Mode mode = exclusive ? Mode.EXCLUSIVE : Mode.SHARED;
      believe(hold.name(), hold.id(), mode, hold.token(), hold);
    } else if (taken instanceof PermitHold hold) {
      world.tally.add(Count.PERMIT_HOLDS);
      int total = take.how() == How.WRONG_FAMILY ? PERMITS + 1 : PERMITS;
      believe(hold.name(), hold.id(), Mode.permits(hold.permits(), total), hold.token(), hold);
    }
    schedule();
  }

  private void believe(String name, String id, Mode mode, long token, Held part) {
    History.Granted grant = run.history.grant(id, token >> 8);
    if (grant == null) {
      throw world.violated(
          Invariant.I3, "hold " + id + " of " + name + " was never granted: " + token);
    }
    Belief belief =
        new Belief(
            machine,
            grant,
            name,
            id,
            mode,
            token,
            take.shape().options().lockDelay(),
            take.shape().options().keepAtLeast(),
            part,
            part instanceof Hold hold ? hold.acquiredAt().toEpochMilli() : 0);
    note("has %s", belief);
    belief.closedByClient = run.isClosed(client);
    run.beliefs.begin(belief, run.script.handOff());
    beliefs.add(belief);
    part.onLost(
        lost -> {
          note("is told that %s is lost: %s", belief, lost.reason());
          run.beliefs.lost(belief, lost.reason());
          // By a thread of its own, which may be later than the one that tells of the loss.
          machine.user(Machine.LATEST_NANOS, "interrupt?", () -> checkInterrupt(belief));
          if (take.reenter() >= 0 && part instanceof Hold hold) {
            reenterLost(hold);
          }
        });
  }

  private void checkInterrupt(Belief belief) {
    boolean due = blockedSince >= 0 && take.shape().options().interruptsOnLoss() && !releasing;
    if (due && !world.wasInterruptedSince(blockedSince) && !run.wasInterruptedOnPurpose()) {
      throw world.violated(Invariant.I6, belief + " was lost, and interrupted nobody");
    }
  }

  private void schedule() {
    if (take.call() == Call.CLOSE_IN_CALLBACK) {
      return;
    }
    long hold = take.hold() * World.MILLI;
    machine.user(hold, "release", this::release);
    machine.user(hold / 2, "write", this::write);
    if (take.reenter() >= 0 && held instanceof Hold hold1) {
      machine.user(take.reenter() * World.MILLI, "reenter", () -> reenter(hold1));
    }
    if (take.extend() >= 0 && held instanceof Hold hold2) {
      machine.user(take.extend() * World.MILLI, "extend", () -> extend(hold2, take.extendTo()));
      if (take.extendAgain() >= 0) {
        long again = take.extend() * World.MILLI + world.nanosBelow(3 * World.MILLI);
        machine.user(again, "extend", () -> extend(hold2, take.extendAgain()));
      }
    }
  }

  /** Looks whether it may, then writes; the write may arrive when it may no longer. */
  private void write() {
    for (Belief belief : beliefs) {
      if (belief.held instanceof Hold hold && belief.isOpen() && hold.isValid()) {
        long delay = world.chance(300) ? world.nanosBelow(1_500 * World.MILLI) : 500_000;
        world.after(
            delay,
            "write arrives",
            () -> {
              History.Granted grant = belief.grant;
              boolean current =
                  grant.exempt == null
                      && grant.live
                      && !grant.released
                      && !run.history.tokensMayFall()
                      && belief.isOpen()
                      && run.server.realTimeOf(grant.endMillis) > world.now();
              run.register.write(belief.name, hold.fencingToken(), current);
            });
      }
    }
  }

  private void reenter(Hold hold) {
    Belief belief = beliefs.get(0);
    if (releasing) {
      return;
    }
    try {
      Hold again = hold.reenter();
      world.tally.add(Count.RE_ENTRIES);
      note("enters again");
      if (belief.signalled != null) {
        throw world.violated(Invariant.I6, belief + " was entered again after its loss");
      }
      if (again.token() != hold.token()) {
        throw world.violated(Invariant.I3, belief + " has another token after re-entry");
      }
      extras.add(again);
    } catch (LockLostException e) {
      note("can't enter again: %s", e);
    }
  }

  private void reenterLost(Hold hold) {
    if (releasing) {
      return;
    }
    try {
      Hold again = hold.reenter();
      throw world.violated(Invariant.I6, again + " was entered again after its loss was signalled");
    } catch (LockLostException e) {
      note("can't enter again: %s", e);
    }
  }

  private void extend(Hold hold, int millis) {
    if (releasing) {
      return;
    }
    note("extends to %d ms", millis);
    hold.extendAsync(Duration.ofMillis(millis))
        .whenComplete(
            (done, failure) -> {
              if (failure == null) {
                world.tally.add(Count.EXTENSIONS);
              }
            });
  }

  // The end. ------------------------------------------------------------------------------------

  private void release() {
    if (releasing || held == null) {
      return;
    }
    releasing = true;
    note("releases");
    for (Hold extra : extras) {
      boolean valid = extra.isValid();
      CompletableFuture<ReleaseOutcome> outcome = extra.releaseAsync();
      if (valid && (!outcome.isDone() || outcome.join() != ReleaseOutcome.RELEASED)) {
        throw world.violated(Invariant.I6, "a re-entered hold was not released at once");
      }
    }
    beliefs.forEach(run.beliefs::releasing);
    if (work != null) {
      work.complete("worked");
      done = true;
      return;
    }
    for (Belief belief : beliefs) {
      if (held instanceof MultiHold) {
        break;
      }
      held.releaseAsync().whenComplete((outcome, failure) -> released(belief, outcome));
    }
    if (held instanceof MultiHold all) {
      all.releaseAsync().whenComplete((outcome, failure) -> beliefs.forEach(this::releasedInMulti));
    }
  }

  /** Releases, and waits for the answer, on a thread for callbacks. */
  private void close() {
    if (releasing || held == null) {
      return;
    }
    releasing = true;
    note("closes in its callback");
    beliefs.forEach(run.beliefs::ask);
    beliefs.forEach(run.beliefs::releasing);
    held.close();
    beliefs.forEach(belief -> released(belief, belief.held.release()));
  }

  /** Each gives its own answer again. */
  private void releasedInMulti(Belief belief) {
    belief.held.releaseAsync().whenComplete((outcome, failure) -> released(belief, outcome));
  }

  private void released(Belief belief, ReleaseOutcome outcome) {
    note("released %s: %s", belief.id, outcome);
    done = true;
    run.beliefs.released(belief, outcome);
  }
}
