package io.fenceline.jdbc.connection;

import io.fenceline.jdbc.sql.Dialect;
import io.fenceline.jdbc.sql.SqlConnection;
import io.fenceline.jdbc.sql.SqliteDialect;
import io.fenceline.time.Time;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.sqlite.JDBC;

/** Connections to one SQLite file: one for each purpose, since only one can write anyway. */
public final class SqliteConnections implements Connections {
  /*
   * Commits are not flushed to the disk one by one (synchronous=NORMAL): what a power failure can
   * take away is grants to processes of this machine, which has stopped with them. Numbers go on
   * from the clock. A process that is killed takes nothing away.
   *
   * The log is moved into the database by whoever has just committed, before its answer: that flushes both, and
   * the first who writes to the log anew flushes it once more, as the file's writer. With SQLite's 1,000 pages, that
   * was in the way of one hand-over of 130 (0022). The pages are mostly the same few, so a longer log takes no longer to
   * move; it is 16 megabytes at most, unless somebody keeps reading.
   */

  public static final String NO_DRIVER =
      "There is no driver for SQLite; add org.xerial:sqlite-jdbc";

  /** How long a caller's own thread waits for a writer: another thread costs about as much. */
  private static final long NOW_NANOS = 500_000;

  private static final long OPEN_PAUSE_NANOS = 1_000_000;

  /** After so many pages, the log is moved into the database. */
  private static final int LOG_PAGES = 4_000;

  private static final int SPINS = Runtime.getRuntime().availableProcessors() > 1 ? 500 : 1;

  private final Duration operationTimeout;
  private final SqliteDriverGuard use;
  private final Map<Purpose, Line> lines = new EnumMap<>(Purpose.class);
  private volatile boolean closed;

  /** A connection and whose turn it is. */
  private static final class Line {
    final ReentrantLock lock = new ReentrantLock();
    final SqlConnection db;
    final SqlitePatience patience;

    Line(SqlConnection db, SqlitePatience patience) {
      this.db = db;
      this.patience = patience;
    }
  }

  private SqliteConnections(Duration operationTimeout, SqliteDriverGuard use) {
    this.operationTimeout = operationTimeout;
    this.use = use;
  }

  /**
   * Opens the connections.
   *
   * @param file a path, or what else SQLite's driver takes
   */
  public static SqliteConnections open(String file, Time time, Duration operationTimeout)
      throws SQLException {
    SqliteConnections opened = new SqliteConnections(operationTimeout, use(file));
    try {
      for (Purpose purpose : Purpose.values()) {
        Connection connection = connect(file);
        SqlitePatience patience = SqlitePatience.of(connection);
        opened.lines.put(
            purpose,
            new Line(
                new SqlConnection(connection, () -> time.wallMillis() * 1_000, true), patience));
        patience.atMost(operationTimeout.toNanos());
        String mode = writeAhead(connection, operationTimeout);
        if (!"wal".equalsIgnoreCase(mode)) {
          throw new SQLException(
              "the file can't have a write-ahead log (journal_mode = "
                  + mode
                  + "); use a local file system");
        }
        Dialect.run(connection, "PRAGMA synchronous = NORMAL");
        Dialect.run(connection, "PRAGMA wal_autocheckpoint = " + LOG_PAGES);
      }
      return opened;
    } catch (SQLException | RuntimeException e) {
      opened.close();
      throw e;
    }
  }

  private static SqliteDriverGuard use(String file) throws SQLException {
    try {
      return SqliteDriverGuard.use(Path.of(file), JDBC.class);
    } catch (NoClassDefFoundError e) {
      throw new SQLException(NO_DRIVER, e);
    }
  }

  /** Past the driver manager, which would start every other driver on the class path, too. */
  private static Connection connect(String file) throws SQLException {
    try {
      return JDBC.createConnection("jdbc:sqlite:" + file, new Properties());
    } catch (NoClassDefFoundError e) {
      throw new SQLException(NO_DRIVER, e);
    }
  }

  /**
   * Gives the file a write-ahead log. Of two that do so for a new file at the same time, SQLite
   * refuses one at once, however patient it is: it has read what the other one changes.
   */
  private static @Nullable String writeAhead(Connection connection, Duration atMost)
      throws SQLException {
    long end = System.nanoTime() + atMost.toNanos();
    while (true) {
      try {
        return answer(connection, "PRAGMA journal_mode = WAL");
      } catch (SQLException e) {
        if (!SqliteDialect.isBusy(e) || end - System.nanoTime() <= 0) {
          throw e;
        }
        LockSupport.parkNanos(OPEN_PAUSE_NANOS);
      }
    }
  }

  private static @Nullable String answer(Connection connection, String pragma) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet answer = statement.executeQuery(pragma)) {
      return answer.next() ? answer.getString(1) : null;
    }
  }

  private Line line(Purpose purpose) throws SQLException {
    Line line = lines.get(purpose);
    if (line == null || closed) {
      throw new SQLException("the connection is closed");
    }
    return line;
  }

  /*
   * On the calling thread, which is much faster than to hand it to another one, unless another thread
   * has the connection, or another process writes for longer than ours do: then it would have to wait.
   */
  @Override
  public <T extends @Nullable Object> @Nullable Done<T> useNow(Work<T> work) throws SQLException {
    Line line = line(Purpose.WORK);
    if (!takeNow(line.lock)) {
      return null;
    }
    try {
      line.patience.atMost(NOW_NANOS);
      return new Done<>(work.on(line.db));
    } catch (SQLException e) {
      if (SqliteDialect.isBusy(e)) {
        return null;
      }
      throw e;
    } finally {
      line.lock.unlock();
    }
  }

  @Override
  public <T extends @Nullable Object> T use(Purpose purpose, Work<T> work) throws SQLException {
    Line line = line(purpose);
    take(line.lock);
    try {
      line.patience.atMost(operationTimeout.toNanos());
      return work.on(line.db);
    } finally {
      line.lock.unlock();
    }
  }

  @Override
  public int atOnce() {
    return 1;
  }

  /** Its turn comes in microseconds, mostly: less than it takes to fall asleep. */
  private static boolean takeNow(ReentrantLock lock) {
    for (int spins = 0; spins < SPINS; spins++) {
      if (lock.tryLock()) {
        return true;
      }
      Thread.onSpinWait();
    }
    return false;
  }

  /** Waits for its turn; an interrupt is kept for later, as everywhere in a driver. */
  private void take(ReentrantLock lock) throws SQLException {
    if (takeNow(lock)) {
      return;
    }
    boolean interrupted = false;
    boolean taken = false;
    long left = operationTimeout.toNanos();
    long end = System.nanoTime() + left;
    while (!taken && left > 0) {
      try {
        taken = lock.tryLock(left, TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        interrupted = true;
      }
      left = end - System.nanoTime();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (!taken) {
      throw new SQLException(
          "timed out while waiting for other requests of this client to the same file");
    }
  }

  @Override
  public long changes() throws SQLException {
    return use(
        Purpose.LOOK,
        db -> {
          try (Statement look = db.connection().createStatement();
              ResultSet version = look.executeQuery("PRAGMA data_version")) {
            return version.next() ? version.getLong(1) : -1;
          }
        });
  }

  @Override
  public void close() {
    closed = true;
    for (Line line : lines.values()) {
      line.lock.lock();
      try {
        line.db.connection().close();
      } catch (SQLException e) {
        // Nothing is lost: every statement was committed.
      } finally {
        line.lock.unlock();
      }
    }
    use.end();
  }
}
