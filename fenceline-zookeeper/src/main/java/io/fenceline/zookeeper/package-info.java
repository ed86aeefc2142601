/**
 * Locks in ZooKeeper: linearizable, fair, and granted in one round trip.
 *
 * <p>The API is {@link io.fenceline.zookeeper.ZooKeeperStores}, which opens a store, and {@link
 * io.fenceline.zookeeper.ZooKeeperFence}, which refuses stale tokens in the step that writes. The
 * packages below are not part of it. To read the code, start at {@code ZooKeeperStore}, then {@code
 * claim.Claim}: a claim is one ephemeral sequential node, and it is granted when no node ahead of
 * it is in its way.
 */
@NullMarked
package io.fenceline.zookeeper;

import org.jspecify.annotations.NullMarked;
