/**
 * Who gets a name. Start at {@code NameTransaction}, which locks the row of a name and lets {@code
 * NameRecord} decide; {@code FastPath} does the same with one statement where that is enough.
 * Relies on {@code connection} and {@code waiting}. Not part of the API.
 */
@NullMarked
package io.fenceline.jdbc.claim;

import org.jspecify.annotations.NullMarked;
