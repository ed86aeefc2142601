/**
 * Renews grants, and removes rows that were left behind. Start at {@code Renewals}; {@code Sweeper}
 * deletes rows that nobody has used for a day. Relies on {@code claim}. Not part of the API.
 */
@NullMarked
package io.fenceline.jdbc.renewal;

import org.jspecify.annotations.NullMarked;
