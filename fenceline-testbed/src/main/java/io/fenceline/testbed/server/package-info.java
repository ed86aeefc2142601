/**
 * Real servers for tests, each a process of its own on the loopback interface.
 *
 * <p>A server starts on a port that nobody else has, with its data in a fresh folder, and is gone
 * with its data when it is closed or when this JVM ends. Tests kill, pause and restart it, and read
 * from the system that they did. Relies on the Debian packages of the servers; a missing one is an
 * error that names the package. Start at the server's own class, such as {@link
 * io.fenceline.testbed.server.RedisServer}.
 */
@NullMarked
package io.fenceline.testbed.server;

import org.jspecify.annotations.NullMarked;
