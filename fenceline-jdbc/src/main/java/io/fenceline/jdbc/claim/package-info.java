/**
 * The way of a claim, and of what gives it back. Start at {@code Claim}, and read it from top to
 * bottom: it asks the database, where {@code FastPath} answers with one statement or {@code
 * NameTransaction} locks the row of the name and lets {@code LockQueue} decide; then it is granted,
 * refused, or waits. Relies on {@code waiting} and {@code connection}. Not part of the API.
 */
@NullMarked
package io.fenceline.jdbc.claim;

import org.jspecify.annotations.NullMarked;
