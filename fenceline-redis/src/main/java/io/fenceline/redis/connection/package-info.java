/**
 * How a call gets to a server and its answer back. Start at {@code Topology}, which knows the
 * server of a name (one, a Sentinel's master, or a Cluster's); a {@code Server} has several
 * connections, and a {@code Wire} is one that comes back by itself and never says anything twice.
 * Knows nothing of claims. Not part of the API.
 */
@NullMarked
package io.fenceline.redis.connection;

import org.jspecify.annotations.NullMarked;
