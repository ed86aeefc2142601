package io.fenceline.cli.once;

import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.cli.failure.Failure;
import io.fenceline.jdbc.JdbcStores;
import io.fenceline.recipes.once.OnceRecords;
import io.fenceline.recipes.once.RedisRecords;
import io.fenceline.recipes.once.SqlRecords;
import io.fenceline.recipes.once.Work;
import io.fenceline.redis.RedisStores;
import io.fenceline.spi.StoreAddress;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.codec.ByteArrayCodec;
import java.time.Duration;

/** The records at an address, which is that of a store or of another one that can keep them. */
public final class Records implements AutoCloseable {
  private final OnceRecords<Work> all;
  private final Runnable creating;
  private final Runnable closing;

  private Records(OnceRecords<Work> all, Runnable creating, Runnable closing) {
    this.all = all;
    this.creating = creating;
    this.closing = closing;
  }

  /**
   * Connects to them.
   *
   * @throws Failure if nothing can be recorded there
   */
  public static Records at(StoreAddress address) {
    return switch (address.scheme()) {
      case "sqlite", "jdbc:sqlite", "jdbc:postgresql", "jdbc:mariadb" -> sql(address);
      case "redis", "rediss", "redis-sentinel", "redis-cluster" -> redis(address);
      case "valkey", "valkeys", "valkey-sentinel", "valkey-cluster" -> redis(address);
      default ->
          throw Failure.usage(
              "there can be no records of what was done in "
                  + address.scheme()
                  + ":; name SQLite, PostgreSQL, MariaDB, Redis or Valkey by --records URI");
    };
  }

  private static Records sql(StoreAddress address) {
    SqlRecords records = SqlRecords.over(JdbcStores.at(address.secretText()).connections());
    return new Records(records.apart(), records::createTable, () -> {});
  }

  private static Records redis(StoreAddress address) {
    AbstractRedisClient client = RedisStores.at(address.secretText()).newClient();
    try {
      OnceRecords<Work> records =
          client instanceof RedisClusterClient cluster
              ? RedisRecords.over(cluster.connect(ByteArrayCodec.INSTANCE))
              : RedisRecords.over(((RedisClient) client).connect(ByteArrayCodec.INSTANCE));
      return new Records(records, () -> {}, () -> client.shutdown(Duration.ZERO, Duration.ZERO));
    } catch (RedisException e) {
      client.shutdown(Duration.ZERO, Duration.ZERO);
      throw new StoreUnavailableException(
          address.toString(), "Connecting to the records failed: " + e.getMessage(), e);
    }
  }

  /** The records. */
  public OnceRecords<Work> all() {
    return all;
  }

  /** Makes their table if a look at them is refused: it may not be there yet. */
  public void createIfRefused(Runnable look) {
    try {
      look.run();
    } catch (StoreRefusedException e) {
      creating.run();
      look.run();
    }
  }

  @Override
  public void close() {
    closing.run();
  }
}
