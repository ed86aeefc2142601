package io.fenceline.jdbc.connection;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Which copy of SQLite's driver has a file open in this process: one at a time.
 *
 * <p>An application server may load the driver for each of its applications, so that there are
 * several copies of SQLite in one process.
 */
final class SqliteDriverGuard {
  /*
   * SQLite keeps other processes out by POSIX locks, which a process has as a whole, and keeps its own
   * connections apart by what it remembers of them. Two copies in one process do neither: both write at
   * the same time, and whoever closes the file frees the locks of the other. So the second copy is
   * refused, until the first one has closed the file.
   *
   * Applications share no classes of ours either: only strings and the system's properties.
   */
  private static final String PREFIX = "io.fenceline.jdbc.sqlite:";

  private final Path file;
  private final String copy;

  // Guarded by the key of the file.
  private boolean ended;

  private SqliteDriverGuard(Path file, String copy) {
    this.file = file;
    this.copy = copy;
  }

  /**
   * Notes that a copy of the driver uses a file, from before it opens the file.
   *
   * @param driver a class of the driver
   * @throws Errors.Unusable if another copy uses it
   */
  static SqliteDriverGuard use(Path file, Class<?> driver) throws Failures.Unusable {
    Path real;
    try {
      real = file.toRealPath();
    } catch (IOException e) {
      real = file.toAbsolutePath(); // The driver will say what is wrong.
    }
    SqliteDriverGuard use =
        new SqliteDriverGuard(real, Integer.toHexString(System.identityHashCode(driver)));
    use.count(1);
    return use;
  }

  /** Notes that the file was closed; once is enough. */
  void end() {
    try {
      count(-1);
    } catch (Failures.Unusable e) {
      throw new IllegalStateException(e);
    }
  }

  private void count(int change) throws Failures.Unusable {
    String key = (PREFIX + file).intern();
    synchronized (key) {
      if (ended) {
        return;
      }
      ended = change < 0;
      String[] known = System.getProperty(key, copy + " 0").split(" ", 2);
      if (!known[0].equals(copy)) {
        throw new Failures.Unusable(
            "another application in this process uses the file, through another copy of SQLite's"
                + " driver, and the two would write at the same time; let them share one copy of the"
                + " driver, or give each a file of its own");
      }
      int count = Integer.parseInt(known[1]) + change;
      if (count == 0) {
        System.clearProperty(key);
      } else {
        System.setProperty(key, copy + " " + count);
      }
    }
  }
}
