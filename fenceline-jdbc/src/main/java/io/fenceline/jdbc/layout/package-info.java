/**
 * How locks are written to the tables: their names ({@code Tables}), a claim's row ({@code
 * ClaimRow}), modes as numbers ({@code Units}), times ({@code Micros}), and on which channel a
 * waiter hears ({@code Channels}). Does no I/O. Not part of the API.
 */
@NullMarked
package io.fenceline.jdbc.layout;

import org.jspecify.annotations.NullMarked;
