package io.fenceline.redis;

import io.fenceline.spi.StoreFactory;
import io.fenceline.testbed.contract.GivenClientContract;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/**
 * A Lettuce client of the application outlives the store that was closed on it. It lends its
 * options and its threads: the connections are the store's own, here and in a Cluster, whose
 * clients go past a proxy.
 */
class GivenClientTest extends GivenClientContract {
  private static RedisServer redis;

  @BeforeAll
  static void start() {
    redis = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    redis.close();
  }

  @Override
  protected FaultProxy openProxy() {
    return FaultProxy.to(redis.host(), redis.port(), Protocol.RESP);
  }

  @Override
  protected GivenClient openClient(FaultProxy through) {
    RedisURI uri = RedisURI.create("redis://" + through.address());
    RedisClient client = RedisClient.create();
    return new GivenClient() {
      @Override
      public StoreFactory store() {
        return RedisStores.from(client, uri);
      }

      @Override
      public void close() {
        client.shutdown();
      }
    };
  }

  @Override
  protected StoreFactory direct() {
    return RedisStores.at(redis.uri());
  }
}
