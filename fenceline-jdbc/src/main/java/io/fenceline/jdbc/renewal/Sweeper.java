package io.fenceline.jdbc.renewal;

import io.fenceline.FencelineException;
import io.fenceline.jdbc.claim.NameTransaction;
import io.fenceline.jdbc.connection.Requests;
import io.fenceline.jdbc.layout.Micros;
import io.fenceline.jdbc.layout.Tables;
import io.fenceline.jdbc.sql.Statements;
import io.fenceline.spi.StoreContext;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes what nobody has used for over a day: rows of free names, and claims of processes that
 * died while nobody else asked for their names.
 *
 * <p>One client does so about once an hour, and one in a hundred tries when it connects, for those
 * that never live that long.
 */
public final class Sweeper {
  private static final Logger LOG = LoggerFactory.getLogger(Sweeper.class);
  private static final long AGE_MICROS = Micros.of(Duration.ofHours(25));
  private static final long ROUND_NANOS = Duration.ofHours(1).toNanos();
  private static final int CONNECTS_PER_ROUND = 100;
  private static final String FAILED = "Deleting old rows failed";

  /** So many numbers the clock gives in that time: see {@link Micros#clockNumber}. */
  private static final long AGE_NUMBER = AGE_MICROS * 2 / 125;

  /** Another client's round is recent if it was begun within this. */
  private static final long PAUSE_MICROS = Micros.of(Duration.ofMinutes(40));

  private final StoreContext context;
  private final Requests requests;
  private final Statements statements;
  private final NameTransaction transactions;

  // Guarded by this.
  private Time.@Nullable Timer timer;
  private boolean closed;

  public Sweeper(
      StoreContext context,
      Requests requests,
      Statements statements,
      NameTransaction transactions) {
    this.context = context;
    this.requests = requests;
    this.statements = statements;
    this.transactions = transactions;
  }

  public void start() {
    boolean now = context.random().nextInt(CONNECTS_PER_ROUND) == 0;
    schedule(now ? 0 : pause());
  }

  private long pause() {
    return ROUND_NANOS / 2 + (long) (context.random().nextDouble() * ROUND_NANOS);
  }

  private synchronized void schedule(long delayNanos) {
    if (!closed) {
      timer =
          context
              .time()
              .schedule(delayNanos, () -> context.time().lane(Lane.WORK).execute(this::round));
    }
  }

  private void round() {
    try {
      if (begins(true)) {
        sweep();
      }
    } catch (FencelineException e) {
      LOG.debug("Old rows were not deleted, which can wait", e);
    }
    schedule(pause());
  }

  /** One round, whoever has done one of late; gives how many names were forgotten. */
  public int clean() {
    begins(false);
    return sweep();
  }

  /** Whether this client is to sweep now: of all clients one does, about once an hour. */
  private boolean begins(boolean ifDue) {
    return requests.look(
        FAILED,
        db ->
            db.call(statements.beginSweep)
                    .set("due", ifDue ? 1 : 0)
                    .set("age_number", AGE_NUMBER)
                    .set("pause", PAUSE_MICROS)
                    .update()
                > 0);
  }

  /*
   * In small steps, each a transaction of its own, so that no row is locked for long and others get the
   * connection in between; each row is read once, whatever their number.
   */
  private int sweep() {
    byte[] after = Tables.BEFORE_ALL_NAMES;
    while (after != null && !isClosed()) {
      after = settle(after);
    }
    long forgotten =
        requests.look(
            FAILED,
            db -> {
              Long found = db.call(statements.forgotten).row(row -> row.getLong(1));
              return found == null ? 0L : found;
            });
    int count = 0;
    after = Tables.BEFORE_ALL_NAMES;
    while (after != null && !isClosed()) {
      List<byte[]> names = stale(after, forgotten);
      try {
        count += forget(names, forgotten);
      } catch (FencelineException e) {
        LOG.debug("Some old rows are in use, and stay for now", e);
      }
      after = names.isEmpty() ? null : names.get(names.size() - 1);
    }
    return count;
  }

  /** Ends claims that are over, of some names after this one; gives the last of them. */
  private byte @Nullable [] settle(byte[] afterName) {
    List<byte[]> names =
        requests.look(
            FAILED,
            db ->
                db.call(statements.staleClaims)
                    .set("after", afterName)
                    .set("age", AGE_MICROS)
                    .rows(row -> row.getBytes(1)));
    for (byte[] name : names) {
      requests.look(
          FAILED,
          db -> {
            transactions.settle(db, name);
            return name;
          });
    }
    return names.isEmpty() ? null : names.get(names.size() - 1);
  }

  private List<byte[]> stale(byte[] after, long forgotten) {
    return requests.look(
        FAILED,
        db ->
            db.call(statements.staleNames)
                .set("after", after)
                .set("age", AGE_MICROS)
                .set("forgotten", forgotten)
                .rows(row -> row.getBytes(1)));
  }

  private int forget(List<byte[]> names, long forgotten) {
    return names.isEmpty()
        ? 0
        : requests.look(
            FAILED,
            db ->
                db.call(statements.forget, names.size())
                    .set("names", names)
                    .set("age", AGE_MICROS)
                    .set("forgotten", forgotten)
                    .update());
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  public synchronized void close() {
    closed = true;
    if (timer != null) {
      timer.cancel();
    }
  }
}
