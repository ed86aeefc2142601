package io.fenceline.jdbc.fault;

import io.fenceline.jdbc.JdbcStores;
import io.fenceline.jdbc.schema.LeastRights;
import io.fenceline.testbed.server.PgBouncer;
import io.fenceline.testbed.server.PostgresServer;

/** A PostgreSQL server behind PgBouncer, which pools transactions. */
final class PooledPostgres implements AutoCloseable {
  final PostgresServer server;
  final PgBouncer bouncer;

  /** Of an account that may do no more than the page about rights says. */
  final String url;

  PooledPostgres() {
    server = PostgresServer.builder().trust().start();
    // PgBouncer does not hand on which schema a client wants.
    String direct = LeastRights.in(server).replace("&currentSchema=fenceline", "");
    bouncer = PgBouncer.before(server, "app");
    url = direct.replace(server.address(), bouncer.address());
  }

  static JdbcStores at(String url) {
    return JdbcStores.at(url).inSchema("fenceline").poolSize(2);
  }

  @Override
  public void close() {
    bouncer.close();
    server.close();
  }
}
