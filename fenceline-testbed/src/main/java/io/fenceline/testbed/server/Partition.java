package io.fenceline.testbed.server;

import io.fenceline.testbed.proxy.Fault;
import java.util.List;

/** A member that the others neither hear nor reach, until it is healed; clients reach all. */
public final class Partition implements AutoCloseable {
  private final List<Fault> faults;

  Partition(List<Fault> faults) {
    this.faults = List.copyOf(faults);
  }

  /** How many messages between the sides were swallowed: the proof that there is a partition. */
  public long timesApplied() {
    return faults.stream().mapToLong(Fault::timesApplied).sum();
  }

  /** Joins the sides again. */
  public void heal() {
    faults.forEach(Fault::lift);
  }

  /** As {@link #heal}. */
  @Override
  public void close() {
    heal();
  }
}
