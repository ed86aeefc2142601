package io.fenceline.etcd;

import io.etcd.jetcd.Client;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testbed.contract.GivenClientContract;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.EtcdServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** A jetcd client of the application outlives the store that was closed on it. */
class GivenClientTest extends GivenClientContract {
  private static EtcdServer etcd;

  @BeforeAll
  static void start() {
    etcd = EtcdServer.start("--heartbeat-interval=50", "--election-timeout=250");
  }

  @AfterAll
  static void stop() {
    etcd.close();
  }

  @Override
  protected FaultProxy openProxy() {
    return FaultProxy.to(etcd.host(), etcd.port(), Protocol.HTTP2);
  }

  @Override
  protected GivenClient openClient(FaultProxy through) {
    Client client = Client.builder().endpoints("http://" + through.address()).build();
    return new GivenClient() {
      @Override
      public StoreFactory store() {
        return EtcdStores.from(client);
      }

      @Override
      public void close() {
        client.close();
      }
    };
  }

  @Override
  protected StoreFactory direct() {
    return new EtcdProvider().at(StoreAddress.parse("etcd://" + etcd.address()));
  }
}
