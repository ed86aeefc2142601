/**
 * Locks in Redis: a single server, Sentinel, or Cluster; or Redlock over independent servers.
 *
 * <p>The API is {@link io.fenceline.redis.RedisStores} and {@link
 * io.fenceline.redis.RedlockStores}, which open stores, and {@link io.fenceline.redis.RedisFence},
 * which refuses stale tokens in the step that writes and needs no lock. The packages below are not
 * part of it. To read the code, start at {@code RedisStore}, then {@code claim.Claim}: each request
 * is one call of a script, which decides everything. Dependencies go one way: this package, {@code
 * claim} or {@code redlock}, {@code diagnostics}, {@code connection}, {@code layout}.
 */
@NullMarked
package io.fenceline.redis;

import org.jspecify.annotations.NullMarked;
