/**
 * Locks in ZooKeeper: linearizable, fair, and granted in one round trip.
 *
 * <p>Start at {@link io.fenceline.zookeeper.ZooKeeperStore}, which opens the store, then read
 * {@code ZooKeeperLockStore} and {@code Claim}: a claim is one ephemeral sequential node, and
 * whoever finds nobody ahead that is in its way has the name. {@code Session} keeps the one session
 * of a client and knows until when it surely lives; {@code Line} decides who is in whose way;
 * {@code Renewals} finds out whether what was granted is still there.
 *
 * <p>At the other end, {@link io.fenceline.zookeeper.ZooKeeperFence} refuses stale tokens in the
 * step that writes; it needs none of the above.
 */
@NullMarked
package io.fenceline.zookeeper;

import org.jspecify.annotations.NullMarked;
