package io.fenceline.jdbc.contract;

import io.fenceline.jdbc.Urls;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.MySqlServer;
import io.fenceline.testbed.server.NeedsMySql;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** A pool of connections to MySQL, handed in. */
@NeedsMySql
class MySqlGivenDataSourceTest extends GivenDataSourceContract {
  private static MySqlServer server;

  @BeforeAll
  static void start() {
    server = MySqlServer.start();
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
