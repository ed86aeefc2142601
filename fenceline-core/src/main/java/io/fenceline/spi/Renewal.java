package io.fenceline.spi;

/** A store's answer to a renewal. */
public sealed interface Renewal {

  /** The grant is gone: expired, released by force, or forgotten. It never comes back. */
  Renewal GONE = new Gone();

  /** See {@link #GONE}. */
  record Gone() implements Renewal {}

  /**
   * The lease runs again.
   *
   * @param validity from when and how long
   */
  record Renewed(Validity validity) implements Renewal {}
}
