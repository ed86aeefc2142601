package io.fenceline.testbed.proxy;

import io.fenceline.testbed.proxy.Fault.Effect;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The faults that are on now; threads wait here for them to be lifted. */
final class Faults {

  private final List<Fault> active = new CopyOnWriteArrayList<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition lifted = lock.newCondition();

  void add(Fault fault) {
    active.add(fault);
  }

  void remove(Fault fault) {
    fault.markLifted();
    active.remove(fault);
    lock.lock();
    try {
      lifted.signalAll();
    } finally {
      lock.unlock();
    }
  }

  List<Fault> all() {
    return List.copyOf(active);
  }

  /** The first fault of that effect in that direction, or null. */
  @Nullable Fault find(Effect effect, Direction way) {
    for (Fault fault : active) {
      if (fault.effect() == effect && fault.concerns(way)) {
        return fault;
      }
    }
    return null;
  }

  /** The first black hole in that direction that a connection has to do with, or null. */
  @Nullable Fault blackHole(Direction way, Predicate<Fault> isOurs) {
    for (Fault fault : active) {
      if (fault.effect() == Effect.BLACK_HOLE && fault.concerns(way) && isOurs.test(fault)) {
        return fault;
      }
    }
    return null;
  }

  /** The faults of that effect that this frame triggers; counts as a match for each. */
  List<Fault> triggered(Frame frame, Effect... effects) {
    List<Fault> triggered = new ArrayList<>();
    for (Fault fault : active) {
      if (List.of(effects).contains(fault.effect()) && fault.strikes(frame)) {
        triggered.add(fault);
      }
    }
    return triggered;
  }

  /** All delays in that direction together; counts as applied once for each. */
  long applyDelays(Direction way) {
    long nanos = 0;
    for (Fault fault : active) {
      if (fault.effect() == Effect.DELAY && fault.concerns(way)) {
        fault.apply();
        nanos += fault.delay().toNanos();
      }
    }
    return nanos;
  }

  void awaitLifted(Fault fault) throws InterruptedException {
    lock.lock();
    try {
      while (!fault.isLifted()) {
        lifted.await();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Waits until nothing stalls that direction. */
  void awaitFlow(Direction way) throws InterruptedException {
    Fault stall = find(Effect.STALL, way);
    while (stall != null) {
      stall.apply();
      awaitLifted(stall);
      stall = find(Effect.STALL, way);
    }
  }
}
