/**
 * Waiting claims, and how they learn that it is their turn. Start at {@code Waiters}; {@code
 * QueuePoller} looks for all of a client, and a {@code NotificationListener} makes it look sooner:
 * PostgreSQL's notifications, a statement of MariaDB that is ended, or a socket beside an SQLite
 * file. Relies on {@code connection}. Not part of the API.
 */
@NullMarked
package io.fenceline.jdbc.waiting;

import org.jspecify.annotations.NullMarked;
