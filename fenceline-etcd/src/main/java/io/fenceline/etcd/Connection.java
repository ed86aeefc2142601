package io.fenceline.etcd;

import io.etcd.jetcd.Client;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.util.function.Supplier;

/**
 * A jetcd client, which has one connection to each server that it uses.
 *
 * <p>Where it is ours, it is replaced when nothing has been heard from any server for a while: gRPC
 * waits up to two minutes before it tries a server again that was down, which is longer than most
 * leases, and a new client tries at once.
 */
final class Connection {
  private static final long SILENCE_NANOS = 3_000_000_000L;

  private final Time time;
  private final Supplier<Client> connector;
  private final boolean owned;
  private volatile Client client;
  private volatile long heardNanos;

  // Guarded by this.
  private long connectedNanos;
  private boolean closed;

  /**
   * Over a client.
   *
   * @param owned whether the connector makes clients that are ours to close and to replace
   */
  Connection(Time time, Supplier<Client> connector, boolean owned) {
    this.time = time;
    this.connector = connector;
    this.owned = owned;
    this.client = connector.get();
    this.heardNanos = time.nanos();
    this.connectedNanos = heardNanos;
  }

  Client client() {
    return client;
  }

  /** A server has answered. */
  void heard() {
    heardNanos = time.nanos();
  }

  /** A request was not answered: a client of ours that has been silent for long is replaced. */
  void notHeard() {
    long now = time.nanos();
    synchronized (this) {
      if (!owned
          || closed
          || now - heardNanos < SILENCE_NANOS
          || now - connectedNanos < SILENCE_NANOS) {
        return;
      }
      connectedNanos = now;
    }
    time.lane(Lane.WORK).execute(this::reconnect);
  }

  private void reconnect() {
    Client fresh = connector.get();
    Client stale;
    synchronized (this) {
      stale = closed ? fresh : client;
      if (!closed) {
        client = fresh;
      }
    }
    stale.close();
  }

  void close() {
    Client last;
    synchronized (this) {
      closed = true;
      last = client;
    }
    if (owned) {
      last.close();
    }
  }
}
