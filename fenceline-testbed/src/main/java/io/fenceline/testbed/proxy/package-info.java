/**
 * A TCP proxy that stands between a client and a real server and breaks things on purpose.
 *
 * <p>It knows where a request ends and which reply answers it, so that a test can lose exactly the
 * reply to "the second EVALSHA", and it counts what went over the wire. Every fault counts how
 * often it struck: a test that relies on a fault asserts that. Start reading at {@link
 * io.fenceline.testbed.proxy.FaultProxy}; a connection's way through is {@code Link}, a protocol is
 * a {@code Conversation}.
 */
@NullMarked
package io.fenceline.testbed.proxy;

import org.jspecify.annotations.NullMarked;
