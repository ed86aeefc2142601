/**
 * The way to the database. Start at {@code Requests}, which runs what is asked on a connection
 * ({@code Connections}), again where that is harmless, and says what went wrong ({@code Failures}).
 * Knows nothing of claims. Relies on {@code sql}. Not part of the API, but drivers make {@code
 * BoundedSockets} by name.
 */
@NullMarked
package io.fenceline.jdbc.connection;

import org.jspecify.annotations.NullMarked;
