package io.fenceline.redis.redlock;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;

/**
 * Where the servers of a Redlock are, and how to talk to them.
 *
 * @param description for messages, without secrets
 * @param nodeTimeout how long a server has to answer
 */
public record RedlockSettings(
    List<RedisURI> uris, ClientOptions options, String description, Duration nodeTimeout) {

  public RedlockSettings nodeTimeout(Duration timeout) {
    return new RedlockSettings(uris, options, description, timeout);
  }
}
