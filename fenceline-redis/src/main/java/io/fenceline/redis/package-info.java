/**
 * Locks in Redis: a single server, Sentinel, or Cluster; or Redlock over independent servers.
 *
 * <p>Start at {@link io.fenceline.redis.RedisStore}, which opens a store, and go on with {@code
 * RedisLockStore}, which turns requests into calls of scripts. The scripts, beside this package in
 * the resources, decide everything; begin with {@code claim.lua} and {@code table.lua}. Below the
 * store, a {@code Topology} knows which server has a name, and a {@code Wire} is one connection
 * that comes back by itself and never says anything twice.
 *
 * <p>At the other end, {@link io.fenceline.redis.RedisFence} refuses stale tokens in the step that
 * writes; it needs none of the above.
 *
 * <p>{@link io.fenceline.redis.RedlockStore} opens the other store, {@code RedlockLockStore}, which
 * uses the same wires: begin with {@code RedlockBallot} and {@code redlock_name.lua}.
 */
@NullMarked
package io.fenceline.redis;

import org.jspecify.annotations.NullMarked;
