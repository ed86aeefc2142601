/**
 * Access to the database. Start at {@code Requests}, which runs a request on a connection ({@code
 * Connections}), repeats it where that is harmless, and translates failures ({@code Failures}).
 * Knows nothing of claims. Relies on {@code sql}. Not part of the API, but drivers make {@code
 * BoundedSockets} by name.
 */
@NullMarked
package io.fenceline.jdbc.connection;

import org.jspecify.annotations.NullMarked;
