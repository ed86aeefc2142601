/**
 * How a call reaches a server, and its answer the caller. Start at {@code Topology}, which knows
 * the server of a name (one, a Sentinel's master, or a Cluster's). A {@code Server} has several
 * connections: a {@code Connection} reconnects by itself and never sends a request twice, and a
 * {@code ScriptConnection} also calls scripts, which a server may have lost. Knows nothing of
 * claims. Not part of the API.
 */
@NullMarked
package io.fenceline.redis.connection;

import org.jspecify.annotations.NullMarked;
