/**
 * Locks in SQL databases: one implementation of the store, four small dialects.
 *
 * <p>Start at {@link io.fenceline.jdbc.JdbcStore}, which is what users see; the store itself is
 * {@code SqlLockStore}. What a claim, a release or a withdrawal does to a name is decided by {@code
 * NameRecord}, on what {@code NameTransaction} has read under the lock of the name's row; a free
 * name is taken, and given back, by one statement without it. Statements are in files of their own,
 * beside this package's classes in {@code sql/}. {@link io.fenceline.jdbc.TransactionLock} is for
 * those who need no lease.
 *
 * <p>At the other end, {@link io.fenceline.jdbc.JdbcFence} and {@link io.fenceline.jdbc.FencedRow}
 * refuse stale tokens inside the transaction that writes; they need none of the above.
 */
@NullMarked
package io.fenceline.jdbc;

import org.jspecify.annotations.NullMarked;
