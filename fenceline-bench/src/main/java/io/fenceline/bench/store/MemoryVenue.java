package io.fenceline.bench.store;

import java.util.List;

/** This process itself. */
final class MemoryVenue implements Venue {
  @Override
  public String address() {
    return "memory:bench";
  }

  @Override
  public String description() {
    return "memory of one process";
  }

  @Override
  public Wire count() {
    return List::of;
  }

  @Override
  public long memoryBytes() {
    return 0;
  }

  @Override
  public long cpuNanos() {
    return 0;
  }

  @Override
  public void close() {}
}
