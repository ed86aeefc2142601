package io.fenceline.testkit.sim;

import io.fenceline.spi.GrantNumbers;
import io.fenceline.spi.HeldGrant;
import io.fenceline.spi.Mode;
import io.fenceline.spi.NameState;
import io.fenceline.spi.Owner;
import io.fenceline.testkit.sim.Server.Kind;
import io.fenceline.testkit.sim.Server.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the server has granted, seen from outside: after each request its table is compared with
 * what it was before, and every difference has to have a reason.
 */
final class History {

  /** One grant, from the server's decision to its end. */
  static final class Granted {
    final String name;
    final String id;
    final Mode mode;
    final long number;
    final long sinceNanos;

    /** When the name opens if nothing is heard, by the server's clock. */
    long endMillis;

    boolean live = true;

    /** Given back by its owner; what is left of it only keeps the name closed. */
    boolean released;

    /** Why nothing is promised of it any more, or null. */
    @Nullable String exempt;

    Granted(String name, NameState.Holder holder, long endMillis, long sinceNanos) {
      this.name = name;
      this.id = holder.id();
      this.mode = holder.mode();
      this.number = holder.number();
      this.sinceNanos = sinceNanos;
      this.endMillis = endMillis;
    }

    Key key() {
      return new Key(id, number);
    }

    boolean isOf(String owner) {
      return id.equals(owner);
    }

    @Override
    public String toString() {
      return "grant " + number + " of " + name + " to " + id + " (" + mode + ")";
    }
  }

  /** One grant to one owner. */
  private record Key(String id, long number) {
    static Key of(NameState.Holder holder) {
      return new Key(holder.id(), holder.number());
    }
  }

  /** What was seen of one name. */
  private static final class Seen {
    final Map<Key, Granted> live = new LinkedHashMap<>();
    Set<String> waiters = Set.of();
    long highest;
  }

  private final World world;
  private final Map<String, Seen> names = new LinkedHashMap<>();
  private final Map<Key, Granted> grants = new HashMap<>();
  private final Map<Owner, String> ids = new HashMap<>();
  private final Set<String> excused = new HashSet<>();
  private final Set<String> closing = new HashSet<>();
  private @Nullable Server server;
  private @Nullable Beliefs beliefs;
  private boolean countsAnew;
  private boolean tokensMayFall;

  History(World world) {
    this.world = world;
  }

  void watch(Server watched) {
    this.server = watched;
  }

  void tell(Beliefs asked) {
    this.beliefs = asked;
  }

  private Server server() {
    return java.util.Objects.requireNonNull(server);
  }

  private String id(Owner owner) {
    return ids.computeIfAbsent(owner, Owner::id);
  }

  /** A grant to an owner, or null. */
  @Nullable Granted grant(String id, long number) {
    return grants.get(new Key(id, number));
  }

  /** Whether numbers may fall: after a failover, the clock was behind the last grant. */
  boolean tokensMayFall() {
    return tokensMayFall;
  }

  private long highest() {
    return names.values().stream().mapToLong(seen -> seen.highest).max().orElse(0);
  }

  // Requests. -----------------------------------------------------------------------------------

  void before(Request<?> request) {
    if (request.kind() == Kind.WITHDRAW) {
      String id = id(request.owners().get(0));
      Seen seen = seen(request.names().get(0));
      if (seen.live.values().stream().anyMatch(grant -> grant.isOf(id))) {
        world.tally.add(Count.WITHDRAWALS_OF_GRANTS);
      } else if (seen.waiters.contains(id)) {
        world.tally.add(Count.WITHDRAWALS_OF_WAITERS);
      }
    }
  }

  void after(Request<?> request) {
    Set<String> askers = new HashSet<>();
    request.owners().forEach(owner -> askers.add(id(owner)));
    Set<String> touched =
        request.names().isEmpty() ? names.keySet() : new LinkedHashSet<>(request.names());
    touched.forEach(name -> compare(request, name, askers));
  }

  private Seen seen(String name) {
    return names.computeIfAbsent(name, unused -> new Seen());
  }

  private void compare(Request<?> request, String name, Set<String> askers) {
    Seen seen = seen(name);
    NameState state = server().table().inspect(name);
    long now = server().clockMillis();
    Map<Key, NameState.Holder> held = new LinkedHashMap<>();
    state.holders().forEach(holder -> held.put(Key.of(holder), holder));
    for (Iterator<Granted> all = seen.live.values().iterator(); all.hasNext(); ) {
      Granted grant = all.next();
      NameState.Holder holder = held.get(grant.key());
      boolean asked = askers.contains(grant.id) || forced(request, grant);
      if (holder == null) {
        all.remove();
        ended(request, grant, asked, now);
      } else {
        ran(request, grant, asked, now + holder.remaining().toMillis());
      }
    }
    for (NameState.Holder holder : state.holders()) {
      if (!seen.live.containsKey(Key.of(holder))) {
        began(seen, name, holder, now);
      }
    }
    exclude(state);
    Set<String> waiters = new HashSet<>();
    state.waiters().forEach(waiter -> waiters.add(waiter.id()));
    seen.waiters = waiters;
  }

  private static boolean forced(Request<?> request, Granted grant) {
    return request.kind() == Kind.FORCE && request.number() == grant.number;
  }

  private void began(Seen seen, String name, NameState.Holder holder, long now) {
    Granted grant = new Granted(name, holder, now + holder.remaining().toMillis(), world.now());
    tokensMayFall |= countsAnew && GrantNumbers.atMillis(now) <= highest();
    if (grant.number <= seen.highest && !tokensMayFall) {
      throw world.violated(
          Invariant.I3, grant + " is not above " + seen.highest + ", which was granted before");
    }
    seen.highest = Math.max(seen.highest, grant.number);
    Granted same = grants.get(grant.key());
    if (same != null) {
      grant.exempt = same.exempt; // Given twice, after a failover with a clock that was behind.
    }
    seen.live.put(grant.key(), grant);
    grants.put(grant.key(), grant);
    world.tally.add(Count.GRANTS);
    if (beliefs != null) {
      beliefs.granted(grant);
    }
  }

  private void ended(Request<?> request, Granted grant, boolean asked, long now) {
    grant.live = false;
    if (now >= grant.endMillis) {
      world.tally.add(Count.EXPIRIES);
    } else if (!asked) {
      throw world.violated(Invariant.I5, request.what() + " ended " + grant);
    } else if (request.kind() == Kind.FORCE) {
      world.tally.add(Count.FORCED_RELEASES);
      grant.exempt = "it was released by force";
    } else if (request.kind() == Kind.RELEASE || request.kind() == Kind.WITHDRAW) {
      if (grant.released) {
        throw world.violated(Invariant.DELAY, request.what() + " opened " + grant + " too early");
      }
      grant.released = true;
    } else {
      throw world.violated(Invariant.I5, request.what() + " ended its own " + grant);
    }
  }

  private void ran(Request<?> request, Granted grant, boolean asked, long endMillis) {
    if (endMillis == grant.endMillis) {
      return;
    }
    if (!asked) {
      throw world.violated(Invariant.I5, request.what() + " changed the lease of " + grant);
    }
    if (grant.released && endMillis > grant.endMillis && request.kind() != Kind.RELEASE) {
      throw world.violated(
          Invariant.I7, request.what() + " prolonged " + grant + ", which had been released");
    }
    if (request.kind() == Kind.FORCE) {
      grant.exempt = "it was released by force";
      world.tally.add(Count.FORCED_RELEASES);
    } else if (request.kind() == Kind.RELEASE) {
      grant.released = true;
      world.tally.add(Count.NAMES_KEPT_CLOSED);
    }
    grant.endMillis = endMillis;
  }

  /** I1: those that hold a name now fit beside each other. */
  private void exclude(NameState state) {
    if (state.holders().size() < 2) {
      return;
    }
    for (NameState.Holder holder : state.holders()) {
      List<Mode> others = new ArrayList<>();
      for (NameState.Holder other : state.holders()) {
        if (!other.equals(holder)) {
          others.add(other.mode());
        }
      }
      if (!holder.mode().fitsBeside(others)) {
        throw world.violated(Invariant.I1, "holders of " + state.name() + ": " + state.holders());
      }
    }
  }

  // Faults that the store's guarantees name. ----------------------------------------------------

  /** The server came back with an older state: what differs from it is no longer promised. */
  void forgot() {
    countsAnew = true;
    long now = server().clockMillis();
    names.forEach(
        (name, seen) -> {
          NameState state = server().table().inspect(name);
          Map<Key, Granted> live = new LinkedHashMap<>();
          for (NameState.Holder holder : state.holders()) {
            long end = now + holder.remaining().toMillis();
            Granted known = seen.live.remove(Key.of(holder));
            Granted grant = known != null ? known : new Granted(name, holder, end, world.now());
            if (grant != known || grant.endMillis != end) {
              grant.exempt = "a failover forgot what became of it";
            }
            grant.endMillis = end;
            grant.live = true;
            live.put(grant.key(), grant);
            grants.put(grant.key(), grant);
          }
          for (Granted forgotten : seen.live.values()) {
            forgotten.live = false;
            forgotten.exempt = "a failover forgot it";
            world.tally.add(Count.GRANTS_FORGOTTEN);
          }
          seen.live.clear();
          seen.live.putAll(live);
          state.waiters().forEach(waiter -> excused.add(waiter.id()));
          Set<String> waiters = new HashSet<>();
          state.waiters().forEach(waiter -> waiters.add(waiter.id()));
          seen.waiters = waiters;
        });
  }

  /** The clock was set: forward, leases end before their time; back, they end later. */
  void clockJumped(boolean forward) {
    for (Seen seen : names.values()) {
      for (Granted grant : seen.live.values()) {
        if (forward) {
          grant.exempt = "the server's clock was set forward";
        }
      }
    }
    Request<String> jump =
        new Request<>("the clock jump", Kind.LOOK, List.of(), List.of(), 0, table -> "");
    if (forward) {
      after(jump);
      return;
    }
    long now = server().clockMillis();
    names.forEach(
        (name, seen) -> {
          for (NameState.Holder holder : server().table().inspect(name).holders()) {
            Granted grant = seen.live.get(Key.of(holder));
            if (grant != null) {
              grant.endMillis = now + holder.remaining().toMillis();
            }
          }
        });
    after(jump);
  }

  /** A client has heard that a grant is gone. */
  void toldGone(Machine machine, HeldGrant grant) {
    if (beliefs != null) {
      beliefs.told(machine, id(grant.claim().owner()), grant.number());
    }
  }

  /** A client is being closed: what it was just giving to a caller is lost before that hears. */
  void closing(String client) {
    closing.add(client);
  }

  /** A client wants a name to stay closed after a grant: then someone must have had it. */
  void keepsClosed(String client, HeldGrant grant) {
    String id = id(grant.claim().owner());
    if (beliefs != null && !beliefs.wasHad(id) && !closing.contains(client)) {
      throw world.violated(
          Invariant.I7, grant.claim().name() + " is to stay closed after " + id + ", nobody's");
    }
  }

  // Orphans. ------------------------------------------------------------------------------------

  /** A living client is to have undone everything by now that it does not hold. */
  void checkOrphans(Set<String> livingClients, Set<String> held) {
    names
        .keySet()
        .forEach(
            name -> {
              NameState state = server().table().inspect(name);
              for (NameState.Holder holder : state.holders()) {
                Granted grant = grant(holder.id(), holder.number());
                boolean excusable =
                    grant == null
                        || grant.exempt != null
                        || grant.released
                        || held.contains(grant.id);
                if (!excusable && livingClients.contains(holder.client().label())) {
                  orphan(name, holder.id(), "holder");
                }
              }
              for (NameState.Waiter waiter : state.waiters()) {
                if (livingClients.contains(waiter.client().label())) {
                  orphan(name, waiter.id(), "waiter");
                }
              }
            });
  }

  private void orphan(String name, String id, String what) {
    if (!excused.contains(id)) {
      throw world.violated(
          Invariant.I7,
          "the server still has a " + what + " of " + name + " that nobody wants: " + id);
    }
  }
}
