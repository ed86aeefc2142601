package io.fenceline.redis;

import io.fenceline.redis.redlock.RedlockSettings;
import io.fenceline.redis.redlock.StoreOpener;
import io.fenceline.settings.Durations;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.StoreFactory;
import java.time.Duration;

/**
 * Settings of a Redlock, a store on independent Redis servers of which a majority decides, for
 * {@link io.fenceline.FencelineBuilder#store}.
 *
 * <pre>{@code
 * Fenceline fenceline =
 *     Fenceline.builder()
 *         .store(RedlockStores.at("redlock://a:6379,b:6379,c:6379,d:6379,e:6379"))
 *         .connect();
 * }</pre>
 *
 * <p>The servers must not be replicas of each other, nor be replaced by replicas. An acquire costs
 * two rounds, each to all servers at once, a release one. What this gives, and what it does not, is
 * in {@code docs/redlock.md}.
 */
public final class RedlockStores implements StoreFactory {
  /** How long a server has to answer, unless told otherwise. */
  public static final Duration DEFAULT_NODE_TIMEOUT = Duration.ofMillis(50);

  private final RedlockSettings settings;

  RedlockStores(RedlockSettings settings) {
    this.settings = settings;
  }

  /**
   * Locks at a URI: {@code redlock://[user:password@]host[:6379],host…[/db]}, with the parameters
   * {@code nodeTimeout}, {@code tls}, {@code tlsCa} and {@code tlsVerify}.
   *
   * @throws InvalidSettingException if it is not one
   */
  public static RedlockStores at(String uri) {
    return new RedisAddress(StoreAddress.parse(uri)).redlock();
  }

  /**
   * The same, with another time for a server to answer. An attempt goes on without those that are
   * slower. It is never more than a tenth of a lease.
   */
  public RedlockStores nodeTimeout(Duration timeout) {
    return new RedlockStores(settings.nodeTimeout(Durations.checkPositive("nodeTimeout", timeout)));
  }

  @Override
  public LockStore open(StoreContext context) {
    return new StoreOpener(settings).open(context);
  }

  @Override
  public String toString() {
    return settings.description();
  }
}
