package io.fenceline.jdbc;

import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testbed.server.MySqlServer;
import io.fenceline.testbed.server.PostgresServer;

/** Store addresses of test servers, with their logins. */
public final class Urls {
  private Urls() {}

  public static String of(PostgresServer server) {
    return server.jdbcUrl() + "?user=" + server.user() + "&password=" + server.password();
  }

  public static String of(MySqlServer server) {
    return withKey(server.jdbcUrl() + "?user=" + server.user() + "&password=" + server.password());
  }

  /** Without TLS, the driver asks for the server's key before it sends a password. */
  public static String withKey(String url) {
    return url + "&allowPublicKeyRetrieval=true";
  }

  public static String of(MariaDbServer server) {
    return server.jdbcUrl() + "?user=" + server.user() + "&password=" + server.password();
  }
}
