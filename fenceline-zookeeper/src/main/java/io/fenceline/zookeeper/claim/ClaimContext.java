package io.fenceline.zookeeper.claim;

import io.fenceline.spi.StoreContext;
import io.fenceline.zookeeper.session.Heartbeat;
import io.fenceline.zookeeper.session.Sessions;

/**
 * What the claims of one store share.
 *
 * @param shortQueue how many may be ahead in a short queue; see {@link ClaimTuning}
 */
public record ClaimContext(
    StoreContext store,
    Sessions sessions,
    Heartbeat heartbeat,
    NodeFactory nodes,
    FastPath fastPath,
    QueueReader queues,
    Claims claims,
    KnownClients knownClients,
    LateReads lateReads,
    int shortQueue) {}
