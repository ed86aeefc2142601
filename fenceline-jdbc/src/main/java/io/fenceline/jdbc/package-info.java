/**
 * Locks in SQL databases: one implementation of the store, four small dialects.
 *
 * <p>The API is {@link io.fenceline.jdbc.JdbcStores}, which opens a store; {@link
 * io.fenceline.jdbc.TransactionLock}, a lock without a lease that ends with a transaction; and
 * {@link io.fenceline.jdbc.JdbcFence} and {@link io.fenceline.jdbc.FencedRow}, which refuse stale
 * tokens inside the transaction that writes and need none of the rest. The packages below are not
 * part of it. To read the code, start at {@code JdbcStore}, then {@code claim.Claim}: the
 * transaction that holds the lock of a name's row decides about the name. Each package relies on
 * those after it only: {@code diagnostics}, {@code renewal}, {@code claim}, {@code waiting}, {@code
 * schema}, {@code connection}, {@code sql}, {@code layout}.
 */
@NullMarked
package io.fenceline.jdbc;

import org.jspecify.annotations.NullMarked;
