package io.fenceline.jdbc.connection;

/**
 * Threads to which nothing of their starter's is bound, such as the connection of a transaction.
 */
public final class UnboundThread {
  private UnboundThread() {}

  /** A daemon that inherits nothing but the class loader. */
  public static Thread of(Runnable task, String name) {
    Thread thread = new Thread(null, task, name, 0, false);
    thread.setDaemon(true);
    // Newer versions of Java would give it the system's.
    thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
    return thread;
  }
}
