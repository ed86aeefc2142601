package io.fenceline.jdbc.contract;

import io.fenceline.jdbc.Urls;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.PostgresServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** A pool of connections to PostgreSQL, handed in. */
class PostgresGivenDataSourceTest extends GivenDataSourceContract {
  private static PostgresServer server;

  @BeforeAll
  static void start() {
    server = PostgresServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Override
  String url() {
    return Urls.of(server);
  }

  @Override
  int port() {
    return server.port();
  }

  @Override
  protected FaultProxy openProxy() {
    return FaultProxy.to(server.host(), server.port(), Protocol.POSTGRES);
  }
}
