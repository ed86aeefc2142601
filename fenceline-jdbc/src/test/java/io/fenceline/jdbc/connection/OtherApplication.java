package io.fenceline.jdbc.connection;

import io.fenceline.Fenceline;

/** What another application does; called by name, in a class loader that shares nothing with us. */
@SuppressWarnings("MustBeClosedChecker") // The test closes what it was given.
public final class OtherApplication {
  private OtherApplication() {}

  /** Connects; the type is one that all class loaders share. */
  public static AutoCloseable connect(String uri) {
    return Fenceline.connect(uri);
  }

  /** Whether a lock is to be had. */
  public static boolean tryAcquire(AutoCloseable client, String name) {
    return ((Fenceline) client).lock(name).tryAcquire().isPresent();
  }
}
