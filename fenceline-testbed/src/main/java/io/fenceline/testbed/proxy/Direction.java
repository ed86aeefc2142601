package io.fenceline.testbed.proxy;

/** The way that bytes travel through the proxy. */
public enum Direction {
  TO_SERVER,
  TO_CLIENT,
  BOTH;

  boolean covers(Direction way) {
    return this == BOTH || this == way;
  }
}
