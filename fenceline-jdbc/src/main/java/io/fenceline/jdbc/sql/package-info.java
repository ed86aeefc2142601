/**
 * Statements, read from files of their own beside these classes, and what differs between the
 * databases. Start at {@code Statements} and {@code Dialect}; {@code SqlConnection} runs one.
 * Relies on {@code layout}. Not part of the API.
 */
@NullMarked
package io.fenceline.jdbc.sql;

import org.jspecify.annotations.NullMarked;
