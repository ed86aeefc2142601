package io.fenceline.testkit.sim;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Carries messages between clients and the server: late, in another order than others, or never.
 *
 * <p>Messages of one connection keep their order, unless the seed says that clients have a pool of
 * connections for claims and releases; messages of different connections never do.
 */
final class Network {

  /** The connections of a client, by what they are for. */
  enum Wire {
    CLAIMS,
    RENEWALS,
    PUSHES
  }

  /** What can be wrong with a connection for a while. */
  enum Trouble {
    LOSES_REQUESTS,
    LOSES_REPLIES,
    SLOW,
    /** The client library throws an Error. */
    THROWS
  }

  /** A trouble, and where and until when; all clients or all connections where not said. */
  private record Fault(
      Trouble trouble, @Nullable Host client, @Nullable Wire wire, long until, int share) {
    boolean hits(Trouble what, Host machine, Wire on, long now) {
      return trouble == what
          && now < until
          && (client == null || client == machine)
          && (wire == null || wire == on);
    }
  }

  private record Direction(Host client, Wire wire, boolean toServer) {}

  private final World world;
  private final Host server;
  private final boolean pooled;
  private final List<Fault> faults = new ArrayList<>();
  private final Map<Direction, Long> lastArrivals = new HashMap<>();
  private final Map<Host, Long> lastOfAny = new HashMap<>();

  Network(World world, Host server, boolean pooled) {
    this.world = world;
    this.server = server;
    this.pooled = pooled;
  }

  void trouble(Trouble trouble, @Nullable Host client, @Nullable Wire wire, long nanos, int share) {
    faults.add(new Fault(trouble, client, wire, world.now() + nanos, share));
  }

  void heal() {
    faults.clear();
  }

  boolean isPooled() {
    return pooled;
  }

  /** Whether a request over this connection gets an Error instead. */
  boolean isBroken(Host client, Wire wire) {
    return isLost(Trouble.THROWS, client, wire);
  }

  /** Whether a request that needs no network, but a server, is not heard. */
  boolean losesRequest(Host client, Wire wire) {
    world.tally.add(Count.REQUESTS);
    boolean lost = isLost(Trouble.LOSES_REQUESTS, client, wire);
    if (lost) {
      world.tally.add(Count.REQUESTS_LOST);
    }
    return lost;
  }

  /** Whether its answer is not heard. */
  boolean losesReply(Host client, Wire wire) {
    boolean lost = isLost(Trouble.LOSES_REPLIES, client, wire);
    if (lost) {
      world.tally.add(Count.REPLIES_LOST);
    }
    return lost;
  }

  /** Carries a request. */
  void toServer(Host client, Wire wire, String what, Runnable arrival) {
    world.tally.add(Count.REQUESTS);
    if (isLost(Trouble.LOSES_REQUESTS, client, wire)) {
      world.tally.add(Count.REQUESTS_LOST);
      world.note(client.name, "%s is lost on the way", what);
      return;
    }
    int source = 4 * client.number + wire.ordinal();
    carry(new Direction(client, wire, true), server, source, what, arrival);
  }

  /**
   * Carries an answer or a push.
   *
   * @return false if it will not arrive
   */
  boolean toClient(Host client, Wire wire, String what, Runnable arrival) {
    if (isLost(Trouble.LOSES_REPLIES, client, wire)) {
      world.tally.add(wire == Wire.PUSHES ? Count.PUSHES_LOST : Count.REPLIES_LOST);
      world.note("server", "%s to %s is lost on the way", what, client);
      return false;
    }
    carry(new Direction(client, wire, false), client, 10 + wire.ordinal(), what, arrival);
    return true;
  }

  private void carry(Direction way, Host to, int source, String what, Runnable arrival) {
    long arrives = world.now() + delay(way.client, way.wire);
    boolean ordered = !(pooled && way.wire == Wire.CLAIMS);
    if (ordered) {
      arrives = Math.max(arrives, lastArrivals.getOrDefault(way, 0L) + 1);
      lastArrivals.put(way, arrives);
    }
    if (arrives < lastOfAny.getOrDefault(way.client, 0L)) {
      world.tally.add(Count.OVERTAKEN_MESSAGES);
    } else {
      lastOfAny.put(way.client, arrives);
    }
    world.after(arrives - world.now(), to, source, what, arrival);
  }

  private long delay(Host client, Wire wire) {
    long delay = 100_000 + world.nanosBelow(900_000);
    for (Fault fault : faults) {
      if (fault.hits(Trouble.SLOW, client, wire, world.now())) {
        delay += world.nanosBelow(fault.share() * World.MILLI);
      }
    }
    return delay;
  }

  private boolean isLost(Trouble trouble, Host client, Wire wire) {
    for (Fault fault : faults) {
      if (fault.hits(trouble, client, wire, world.now()) && world.chance(fault.share())) {
        return true;
      }
    }
    return false;
  }
}
