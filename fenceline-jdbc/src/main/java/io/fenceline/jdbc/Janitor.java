package io.fenceline.jdbc;

import io.fenceline.FencelineException;
import io.fenceline.spi.Lane;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.Time;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes what nobody has used for over a day: rows of free names, and claims of processes that
 * died while nobody else asked for their names.
 *
 * <p>Each client does so about once an hour, and one in a hundred when it connects, for those that
 * never live that long.
 */
final class Janitor {
  private static final Logger LOG = LoggerFactory.getLogger(Janitor.class);
  private static final long AGE_MICROS = NameRecord.micros(Duration.ofHours(25));
  private static final long ROUND_NANOS = Duration.ofHours(1).toNanos();
  private static final int CONNECTS_PER_ROUND = 100;
  private static final byte[] NOBODY = new byte[0];

  private final StoreContext context;
  private final Attempts attempts;
  private final Statements statements;
  private final NameTransaction transactions;

  // Guarded by this.
  private Time.@Nullable Timer timer;
  private boolean closed;

  Janitor(
      StoreContext context,
      Attempts attempts,
      Statements statements,
      NameTransaction transactions) {
    this.context = context;
    this.attempts = attempts;
    this.statements = statements;
    this.transactions = transactions;
  }

  void start() {
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
      clean();
    } catch (FencelineException e) {
      LOG.debug("Old rows were not deleted, which can wait", e);
    }
    schedule(pause());
  }

  /** One round; gives how many names were forgotten. */
  int clean() {
    return attempts.look(
        "Deleting old rows failed",
        session -> {
          settleStale(session);
          return forgetStale(session);
        });
  }

  private void settleStale(Session session) throws SQLException {
    List<byte[]> names =
        session.call(statements.staleClaims).set("age", AGE_MICROS).rows(row -> row.getBytes(1));
    for (byte[] name : names) {
      // To read them under the lock is to end what is over.
      transactions.run(
          session, new String(name, StandardCharsets.UTF_8), NOBODY, false, record -> record);
    }
  }

  private int forgetStale(Session session) throws SQLException {
    List<byte[]> names =
        session.call(statements.staleNames).set("age", AGE_MICROS).rows(row -> row.getBytes(1));
    return names.isEmpty()
        ? 0
        : session
            .call(statements.forget, names.size())
            .set("names", names)
            .set("age", AGE_MICROS)
            .update();
  }

  synchronized void close() {
    closed = true;
    if (timer != null) {
      timer.cancel();
    }
  }
}
