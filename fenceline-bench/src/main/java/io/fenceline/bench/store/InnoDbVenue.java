package io.fenceline.bench.store;

import io.fenceline.testbed.process.ServerProcess;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testbed.server.MySqlServer;
import java.util.List;
import java.util.function.UnaryOperator;

/** One MariaDB or MySQL server with its own settings, and room for everyone's connections. */
final class InnoDbVenue implements Venue {
  private final String title;
  private final ServerProcess server;
  private final String address;
  private final UnaryOperator<String> sql;

  private InnoDbVenue(
      String title, ServerProcess server, String address, UnaryOperator<String> sql) {
    this.title = title;
    this.server = server;
    this.address = address;
    this.sql = sql;
  }

  static Venue mariaDb() {
    MariaDbServer server = MariaDbServer.builder().setting("max-connections", "1300").start();
    return new InnoDbVenue(
        "MariaDB",
        server,
        server.jdbcUrl() + "?user=" + server.user() + "&password=" + server.password(),
        server::sql);
  }

  static Venue mySql() {
    MySqlServer server = MySqlServer.builder().setting("max-connections", "1300").start();
    return new InnoDbVenue(
        "MySQL",
        server,
        "%s?user=%s&password=%s&allowPublicKeyRetrieval=true"
            .formatted(server.jdbcUrl(), server.user(), server.password()),
        server::sql);
  }

  @Override
  public String address() {
    return address;
  }

  @Override
  public String description() {
    return title
        + " "
        + sql.apply("SELECT VERSION()").split("-", -1)[0]
        + ", one server, innodb_flush_log_at_trx_commit = "
        + sql.apply("SELECT @@innodb_flush_log_at_trx_commit")
        + ", log_bin = "
        + sql.apply("SELECT @@log_bin");
  }

  /** By the server's own count, in which the question is one itself. */
  @Override
  public Wire count() {
    long before = questions();
    return () -> List.of(new Count("statements", questions() - before - 1));
  }

  private long questions() {
    return Long.parseLong(sql.apply("SHOW GLOBAL STATUS LIKE 'Questions'").split("\t", -1)[1]);
  }

  @Override
  public long memoryBytes() {
    return Long.parseLong(
        sql.apply(
            "SELECT SUM(DATA_LENGTH + INDEX_LENGTH) FROM information_schema.TABLES"
                + " WHERE TABLE_SCHEMA = DATABASE()"));
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
