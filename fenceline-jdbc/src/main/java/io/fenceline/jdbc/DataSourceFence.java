package io.fenceline.jdbc;

import io.fenceline.FencingToken;
import io.fenceline.StoreUnavailableException;
import io.fenceline.fence.Fence;
import io.fenceline.jdbc.connection.UnboundThread;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A fence on whatever connection a data source hands out: see {@link JdbcFence#over}. */
final class DataSourceFence implements Fence {
  private final DataSource dataSource;
  private final Judge judge;

  /** Whether connections commit by themselves outside of transactions; null until it was looked. */
  private volatile @Nullable Boolean othersCommit;

  /** Checks a token on a connection. */
  @FunctionalInterface
  interface Judge {
    void judge(Connection connection, String resource, FencingToken token) throws SQLException;
  }

  DataSourceFence(DataSource dataSource, Judge judge) {
    this.dataSource = dataSource;
    this.judge = judge;
  }

  @Override
  public void check(String resource, FencingToken token) {
    try {
      if (isDoneHere(resource, token)) {
        return;
      }
    } catch (SQLException e) {
      throw failure(resource, e);
    }
    // No transaction is bound to a thread that has just begun: what is committed there is ours.
    CompletableFuture<Void> done = new CompletableFuture<>();
    UnboundThread.of(
            () -> {
              try {
                checkAlone(resource, token);
                done.complete(null);
              } catch (SQLException e) {
                done.completeExceptionally(failure(resource, e));
              } catch (RuntimeException | Error e) {
                done.completeExceptionally(e);
              }
            },
            "fenceline-fence")
        .start();
    await(done, resource);
  }

  /** Checks here, unless that would be in a transaction that nobody may end. */
  private boolean isDoneHere(String resource, FencingToken token) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      if (connection.getAutoCommit()) {
        if (othersCommit == null) {
          othersCommit = true; // So a connection that does not, later on, is in a transaction.
        }
        judge.judge(connection, resource, token);
        return true;
      }
    }
    // Asked without a connection in hand: the pool may have no other one.
    Boolean commits = othersCommit;
    if (commits == null) {
      commits = doOthersCommit(resource);
      othersCommit = commits;
    }
    if (!commits) {
      return false;
    }
    try (Connection connection = dataSource.getConnection()) {
      judge.judge(connection, resource, token);
      return true;
    }
  }

  /** Whether connections commit by themselves where nobody can have a transaction. */
  private boolean doOthersCommit(String resource) {
    CompletableFuture<Boolean> found = new CompletableFuture<>();
    UnboundThread.of(
            () -> {
              try (Connection connection = dataSource.getConnection()) {
                found.complete(connection.getAutoCommit());
              } catch (SQLException e) {
                found.completeExceptionally(failure(resource, noSecond(e)));
              } catch (RuntimeException | Error e) {
                found.completeExceptionally(e);
              }
            },
            "fenceline-fence")
        .start();
    return await(found, resource);
  }

  private Connection open() throws SQLException {
    try {
      return dataSource.getConnection();
    } catch (SQLException e) {
      throw noSecond(e);
    }
  }

  private static SQLException noSecond(SQLException e) {
    return new SQLException(
        "the fence needs another connection, besides that of the caller's transaction, and got none: "
            + e.getMessage(),
        e.getSQLState(),
        e);
  }

  private void checkAlone(String resource, FencingToken token) throws SQLException {
    try (Connection connection = open()) {
      boolean commits = connection.getAutoCommit();
      try {
        judge.judge(connection, resource, token);
        if (!commits) {
          connection.commit();
        }
      } catch (SQLException | RuntimeException e) {
        if (!commits) {
          connection.rollback();
        }
        throw e;
      }
    }
  }

  private static <T> T await(CompletableFuture<T> future, String resource) {
    try {
      return future.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException own) {
        throw own;
      }
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreUnavailableException(
          "jdbc", "Checking a token for '%s' was interrupted".formatted(resource), e);
    }
  }

  private static StoreUnavailableException failure(String resource, SQLException e) {
    return JdbcFence.failure("Checking a token for '%s' failed".formatted(resource), e);
  }
}
