package io.fenceline.testkit.scenario;

import io.fenceline.FencedLock;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.diagnosis.LockReport;
import io.fenceline.testkit.fault.LossyStore;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One process of a test: a client, its way to the store, and what it heard. */
public final class Peer {

  /** A client, and its way to the store. */
  record Connection(Fenceline fenceline, LossyStore store) {}

  private final String label;
  private final EventLog events;
  private final Supplier<Connection> connecting;

  /**
   * What it has taken, so that a hold that a test does not keep is not collected: it would no
   * longer be renewed, and be lost on a machine that is slow enough.
   */
  private final Queue<Hold> taken = new ConcurrentLinkedQueue<>();

  private @Nullable Connection connection;

  /** A process that connects when it is first used: to connect is most of what a test costs. */
  Peer(String label, EventLog events, Supplier<Connection> connecting) {
    this.label = label;
    this.events = events;
    this.connecting = connecting;
  }

  Peer(String label, Fenceline fenceline, LossyStore store, EventLog events) {
    this(label, events, () -> new Connection(fenceline, store));
  }

  private synchronized Connection connection() {
    if (connection == null) {
      connection = connecting.get();
    }
    return connection;
  }

  /** Connects now, for a test in which it must not cost time later. */
  public Peer connected() {
    connection();
    return this;
  }

  public String label() {
    return label;
  }

  public EventLog events() {
    return events;
  }

  public Fenceline fenceline() {
    return connection().fenceline;
  }

  public LossyStore store() {
    return connection().store;
  }

  public Queue<Hold> taken() {
    return taken;
  }

  public FencedLock lock(String name) {
    return fenceline().lock(name);
  }

  public FencedLock lock(String name, LockOptions options) {
    return fenceline().lock(name, options);
  }

  /** Takes a lock that must be free. */
  public Hold take(String name) {
    return kept(name, lock(name));
  }

  /** Takes a lock that must be free. */
  public Hold take(String name, LockOptions options) {
    return kept(name, lock(name, options));
  }

  private Hold kept(String name, FencedLock lock) {
    Hold hold = lock.tryAcquire().orElseThrow(() -> new AssertionError(notFree(name)));
    taken.add(hold);
    return hold;
  }

  private String notFree(String name) {
    return "'" + name + "' is not free for " + label + ": " + inspect(name);
  }

  public Optional<Hold> tryTake(String name) {
    return lock(name).tryAcquire();
  }

  public LockReport inspect(String name) {
    return fenceline().inspect(name);
  }

  /** Ends like a process that was killed. */
  public void vanish() {
    store().vanish();
  }

  /** Closes its client, if it ever had one. */
  public synchronized void close() {
    if (connection != null) {
      connection.store.heal();
      connection.fenceline.close();
    }
  }
}
