/**
 * Whether the tables are there, are ours, and may be used. Start at {@code TableSetup}. Relies on
 * {@code connection}. Not part of the API.
 */
@NullMarked
package io.fenceline.jdbc.schema;

import org.jspecify.annotations.NullMarked;
