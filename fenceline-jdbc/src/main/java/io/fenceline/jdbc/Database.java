package io.fenceline.jdbc;

import io.fenceline.jdbc.sql.Dialect;
import io.fenceline.jdbc.sql.MariaDbDialect;
import io.fenceline.jdbc.sql.MySqlDialect;
import io.fenceline.jdbc.sql.PostgresDialect;
import io.fenceline.jdbc.sql.SqliteDialect;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;

/** The databases that can keep locks. */
public enum Database {
  /** A file of one machine. */
  SQLITE,
  /** Version 15 is tested. */
  POSTGRESQL,
  /** Version 10.11 is tested. */
  MARIADB,
  /** Version 8.0 is tested. */
  MYSQL;

  /** The database behind a connection. */
  static Database of(DatabaseMetaData about) throws SQLException {
    String product = about.getDatabaseProductName();
    return switch (product) {
      case "PostgreSQL" -> POSTGRESQL;
      case "MariaDB" -> MARIADB;
      // MySQL's driver takes every server for its own.
      case "MySQL" -> about.getDatabaseProductVersion().contains("MariaDB") ? MARIADB : MYSQL;
      case "SQLite" -> SQLITE;
      default ->
          throw new SQLException(
              product + " is not supported; use PostgreSQL, MariaDB, MySQL or SQLite");
    };
  }

  public Dialect dialect() {
    return switch (this) {
      case SQLITE -> new SqliteDialect();
      case POSTGRESQL -> new PostgresDialect();
      case MARIADB -> new MariaDbDialect();
      case MYSQL -> new MySqlDialect();
    };
  }
}
