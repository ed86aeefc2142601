/**
 * Answers for operators: who holds a name and who waits ({@code Inspector}), and what is wrong with
 * a database or with the rights of a user ({@code Diagnostics}). Relies on {@code schema}. Not part
 * of the API.
 */
@NullMarked
package io.fenceline.jdbc.diagnostics;

import org.jspecify.annotations.NullMarked;
