package consumer;

import io.fenceline.FencingToken;
import io.fenceline.redis.RedisFence;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;

final class Redis implements Main.Guarded {
  private final RedisClient client;
  private final StatefulRedisConnection<String, String> connection;

  Redis(String uri) {
    client = RedisClient.create(uri);
    connection = client.connect();
  }

  @Override
  public void write(FencingToken token) {
    String key = "consumer-" + ProcessHandle.current().pid();
    RedisFence.over(connection).set(key, "value", token);
  }

  @Override
  public void close() {
    connection.close();
    client.shutdown();
  }
}
