package io.fenceline.bench.store;

import io.fenceline.testbed.server.PostgresServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.stream.Stream;

/** One PostgreSQL server with its own settings, and room for everyone's connections. */
final class PostgresVenue implements Venue {
  private final PostgresServer server =
      PostgresServer.builder().setting("max_connections", "1300").start();

  @Override
  public String address() {
    return server.jdbcUrl() + "?user=" + server.user() + "&password=" + server.password();
  }

  @Override
  public String description() {
    String version = server.sql("SHOW server_version").split(" ", -1)[0];
    return "PostgreSQL " + version + ", one server, fsync on, synchronous_commit on";
  }

  /** By its log, which has a line for each statement while it is asked to. */
  @Override
  public Wire count() {
    log("all");
    long before = statements();
    return () -> {
      long after = statements();
      log("none");
      return List.of(new Count("statements", after - before));
    };
  }

  private void log(String what) {
    try (Connection connection = DriverManager.getConnection(address());
        Statement statement = connection.createStatement()) {
      statement.execute("ALTER SYSTEM SET log_statement = '" + what + "'");
      statement.execute("SELECT pg_reload_conf(), pg_sleep(0.05)"); // Until all have heard of it.
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private long statements() {
    try (Stream<String> lines = Files.lines(server.logFile())) {
      return lines
          .filter(line -> line.contains("LOG:  execute ") || line.contains("LOG:  statement:"))
          .filter(line -> !line.contains("pg_reload_conf") && !line.contains("ALTER SYSTEM"))
          .count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public long memoryBytes() {
    return Long.parseLong(server.sql("SELECT pg_database_size(current_database())"));
  }

  @Override
  public long cpuNanos() {
    return ProcessFigures.cpuNanos(server.pid());
  }

  @Override
  public void close() {
    server.close();
  }
}
