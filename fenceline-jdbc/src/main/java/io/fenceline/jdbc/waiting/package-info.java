/**
 * Those who wait, and how they hear that their turn has come. Start at {@code QueuePoller}, which
 * looks for all of a client; a {@code NotificationListener} makes it look sooner: PostgreSQL's
 * notifications, or a socket beside an SQLite file. Relies on {@code connection}. Not part of the
 * API.
 */
@NullMarked
package io.fenceline.jdbc.waiting;

import org.jspecify.annotations.NullMarked;
