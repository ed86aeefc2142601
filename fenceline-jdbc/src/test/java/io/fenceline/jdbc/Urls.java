package io.fenceline.jdbc;

import io.fenceline.testkit.server.MariaDbServer;
import io.fenceline.testkit.server.PostgresServer;

/** Store addresses of test servers, with their logins. */
final class Urls {
  private Urls() {}

  static String of(PostgresServer server) {
    return server.jdbcUrl() + "?user=" + server.user() + "&password=" + server.password();
  }

  static String of(MariaDbServer server) {
    return server.jdbcUrl() + "?user=" + server.user() + "&password=" + server.password();
  }
}
