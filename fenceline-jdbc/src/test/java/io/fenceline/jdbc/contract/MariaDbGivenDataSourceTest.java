package io.fenceline.jdbc.contract;

import io.fenceline.jdbc.Urls;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.MariaDbServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** A pool of connections to MariaDB, handed in. */
class MariaDbGivenDataSourceTest extends GivenDataSourceContract {
  private static MariaDbServer server;

  @BeforeAll
  static void start() {
    server = MariaDbServer.start();
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
    return FaultProxy.to(server.host(), server.port(), Protocol.MYSQL);
  }
}
