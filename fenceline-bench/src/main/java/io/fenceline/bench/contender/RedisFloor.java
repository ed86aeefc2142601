package io.fenceline.bench.contender;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;

/**
 * What a lock in Redis can't do without, through the same client library, on one connection that
 * all threads share: a script that sets the key and mints a number, and one that compares and
 * deletes.
 */
final class RedisFloor implements Contender {
  private static final long LEASE_MILLIS = 30_000;
  private static final String TAKE =
      """
      if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
        return redis.call('INCR', KEYS[2])
      end
      return 0""";
  private static final String GIVE_BACK =
      """
      if redis.call('GET', KEYS[1]) == ARGV[1] then
        return redis.call('DEL', KEYS[1])
      end
      return 0""";

  private final RedisClient client;
  private final RedisAsyncCommands<byte[], byte[]> commands;
  private final boolean mints;
  private final String take;
  private final String giveBack;

  private RedisFloor(String address, boolean mints) {
    this.client = RedisClient.create(address);
    StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE);
    this.commands = connection.async();
    this.mints = mints;
    this.take = connection.sync().scriptLoad(TAKE.getBytes(UTF_8));
    this.giveBack = connection.sync().scriptLoad(GIVE_BACK.getBytes(UTF_8));
  }

  static Contender withScript(String address) {
    return new RedisFloor(address, true);
  }

  /** Without a number: {@code SET NX PX} instead of the script. */
  static Contender withSet(String address) {
    return new RedisFloor(address, false);
  }

  @Override
  public Cycle on(String name) {
    byte[] key = ("floor:" + name).getBytes(UTF_8);
    byte[][] both = {key, "floor#".getBytes(UTF_8)};
    byte[] lease = Long.toString(LEASE_MILLIS).getBytes(UTF_8);
    SetArgs ifFree = SetArgs.Builder.nx().px(LEASE_MILLIS);
    return section -> {
      byte[] owner = Floors.owner();
      long number = 0;
      boolean taken;
      if (mints) {
        number = commands.<Long>evalsha(take, ScriptOutputType.INTEGER, both, owner, lease).get();
        taken = number > 0;
      } else {
        taken = commands.set(key, owner, ifFree).get() != null;
      }
      Floors.check(taken);
      section.run(number);
      Floors.check(
          commands
                  .<Long>evalsha(giveBack, ScriptOutputType.INTEGER, new byte[][] {key}, owner)
                  .get()
              == 1);
    };
  }

  @Override
  public void close() {
    client.shutdown();
  }
}
