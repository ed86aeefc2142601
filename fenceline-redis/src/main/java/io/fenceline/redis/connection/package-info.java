/**
 * How a call reaches a server, and its answer the caller. Start at {@code Topology}, which knows
 * the server of a name (one, a Sentinel's master, or a Cluster's); a {@code Server} has several
 * connections, and a {@code Wire} is one connection, which reconnects by itself and never sends a
 * request twice. Knows nothing of claims. Not part of the API.
 */
@NullMarked
package io.fenceline.redis.connection;

import org.jspecify.annotations.NullMarked;
