package io.fenceline.bench.contender;

import java.util.Set;

/**
 * A contender of one store, before it is opened.
 *
 * @param id for the command line and JSON
 * @param title for tables
 * @param role what it is measured for
 * @param disciplines the works that it can take part in
 * @param opener opens it at an address
 */
public record Entrant(
    String id, String title, Role role, Set<Discipline> disciplines, Opener opener) {

  /** What a contender is measured for. */
  public enum Role {
    /** Fenceline. */
    OURS,
    /** The same requests without a lock around them: nothing can be faster over this wire. */
    FLOOR,
    /** Less than a lock needs; reported without a goal. */
    BARE,
    /** Another lock. */
    PEER,
    /** A lock of one process: the limit of what a process can do among its threads. */
    LIMIT
  }

  /** The works that ask something of a lock that not all can do. */
  public enum Discipline {
    /** Nobody else wants the name. */
    ALONE,
    /** Threads of one process want the name, and wait. */
    HOT,
    /** Several processes want the name, and wait. */
    FLEET,
    /** Several processes of one thread want the name, and wait. */
    TURNS
  }

  /** Opens a contender. */
  @FunctionalInterface
  public interface Opener {
    /** Opens it at an address. */
    Contender open(String address) throws Exception;
  }

  /** Whether it can take part. */
  public boolean takesPartIn(Discipline discipline) {
    return disciplines.contains(discipline);
  }

  @Override
  public String toString() {
    return title;
  }
}
