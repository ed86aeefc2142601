package io.fenceline.testkit.sim;

/**
 * What a client library throws that has a bad day: no exception of ours, and no exception at all.
 */
final class DriverError extends Error {
  private static final long serialVersionUID = 1L;

  DriverError(String request) {
    super(request + ": deep in the driver", null, false, false);
  }
}
