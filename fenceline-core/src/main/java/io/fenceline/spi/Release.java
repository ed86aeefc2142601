package io.fenceline.spi;

/** A store's answer to a release. */
public enum Release {
  /** The grant was there and has ended, or will end as asked. */
  RELEASED,
  /** The grant was gone already. */
  GONE
}
