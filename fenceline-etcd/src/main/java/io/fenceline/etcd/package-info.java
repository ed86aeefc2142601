/**
 * Locks in etcd: a claim is a key, its place in the queue is the key's create revision, and all
 * holds of a client live on one lease.
 *
 * <p>Start at {@link io.fenceline.etcd.EtcdStore}; {@link io.fenceline.etcd.Claim} is the way of
 * one claim, {@link io.fenceline.etcd.Session} keeps what it took. It relies on etcd's
 * transactions, watches and leases through jetcd, and not on etcd's own lock service. Users need
 * {@link io.fenceline.etcd.EtcdStores} only, and that only if they have a jetcd client already.
 *
 * <p>At the other end, {@link io.fenceline.etcd.EtcdFence} refuses stale tokens in the transaction
 * that writes; it needs none of the above.
 */
@NullMarked
package io.fenceline.etcd;

import org.jspecify.annotations.NullMarked;
