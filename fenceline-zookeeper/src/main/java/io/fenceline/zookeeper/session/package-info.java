/**
 * The one session of a client. Start at {@code Session}; {@code Sessions} notices when Curator has
 * made a new one, {@code Heartbeat} keeps it alive, and {@code SessionProof} knows until when it is
 * certain to last. Knows nothing of claims. Not part of the API.
 */
@NullMarked
package io.fenceline.zookeeper.session;

import org.jspecify.annotations.NullMarked;
