package io.fenceline.bench.contender;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lettuce.core.KeyValue;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import java.util.concurrent.TimeUnit;

/**
 * Taking turns in Redis without a lock: whoever waits is at a list with {@code BLPOP}, which serves
 * them in the order in which they came, and whoever is done pushes the next number there by a
 * script.
 */
final class RedisRing implements Contender {
  private static final String PASS_ON =
      "return redis.call('RPUSH', KEYS[1], redis.call('INCR', KEYS[2]))";
  private static final String START =
      "if redis.call('SETNX', KEYS[2], 1) == 1 then redis.call('RPUSH', KEYS[1], 1) end return 1";

  private final RedisClient client;
  private final StatefulRedisConnection<byte[], byte[]> waiting;
  private final StatefulRedisConnection<byte[], byte[]> passing;
  private final String passOn;

  RedisRing(String address) {
    this.client = RedisClient.create(address);
    this.waiting = client.connect(ByteArrayCodec.INSTANCE);
    this.passing = client.connect(ByteArrayCodec.INSTANCE);
    this.passOn = passing.sync().scriptLoad(PASS_ON.getBytes(UTF_8));
  }

  @Override
  public Cycle on(String name) throws Exception {
    byte[] list = ("ring:" + name).getBytes(UTF_8);
    byte[][] keys = {list, ("ring#" + name).getBytes(UTF_8)};
    passing.async().eval(START, ScriptOutputType.INTEGER, keys).get();
    return section -> {
      KeyValue<byte[], byte[]> turn =
          waiting.async().blpop(Floors.LONGEST_WAIT_MILLIS / 1e3, list).get(1, TimeUnit.MINUTES);
      if (turn == null) {
        return;
      }
      section.run(Long.parseLong(new String(turn.getValue(), UTF_8)));
      passing.async().evalsha(passOn, ScriptOutputType.INTEGER, keys).get();
    };
  }

  @Override
  public void close() {
    client.shutdown();
  }
}
