package io.fenceline.bench.contender;

/** Something that can lock a name, run something, and unlock; one client of one store. */
public interface Contender extends AutoCloseable {

  /**
   * What a thread does with one name; made once for each thread and name, before the clock runs.
   */
  Cycle on(String name) throws Exception;

  @Override
  default void close() throws Exception {}

  /** One lock, whatever is under it, one unlock that is waited for. */
  @FunctionalInterface
  interface Cycle {
    /**
     * Runs the section under the lock. What only hands on in a ring may return without having run
     * it, to be called again, so that it is noticed that the run is over.
     */
    void run(Section section) throws Exception;
  }

  /** What is done under the lock. */
  @FunctionalInterface
  interface Section {
    /**
     * Runs it.
     *
     * @param token the fencing token; 0 where the lock has none
     */
    void run(long token) throws Exception;
  }
}
