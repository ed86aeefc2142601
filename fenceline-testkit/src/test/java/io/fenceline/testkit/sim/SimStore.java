package io.fenceline.testkit.sim;

import io.fenceline.StoreUnavailableException;
import io.fenceline.diagnosis.Certainty;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.diagnosis.Guarantees;
import io.fenceline.memory.LockTable;
import io.fenceline.settings.LeaseLimits;
import io.fenceline.spi.ClaimAnswer;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Grant;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.NameState;
import io.fenceline.spi.Owner;
import io.fenceline.spi.QueuedClaim;
import io.fenceline.spi.Release;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.Validity;
import io.fenceline.testkit.sim.Network.Wire;
import io.fenceline.testkit.sim.Server.Kind;
import io.fenceline.testkit.sim.Server.Request;
import io.fenceline.time.Moment;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The client's half of the simulated store, made like those of Redis and SQL. */
final class SimStore implements LockStore {
  private static final Duration POLL = Duration.ofMillis(700);

  private static final Guarantees GUARANTEES =
      new Guarantees(
          "sim",
          EnumSet.complementOf(EnumSet.of(Guarantee.LINEARIZABLE)),
          Certainty.NO,
          LeaseLimits.from(Duration.ofMillis(50)),
          "the newest grants may be forgotten",
          "the newest grants may be forgotten",
          "a jump forward ends leases early",
          "tokens go on from the clock");

  private final World world;
  private final Machine machine;
  private final Network network;
  private final Server server;
  private final History history;
  private final StoreContext context;
  private final Map<Owner, Route> claims = new HashMap<>();
  private final Set<Call<?>> calls = new LinkedHashSet<>();
  private final boolean direct;
  private boolean closed;

  /** A claim that waits for an answer or a push. */
  private record Route(QueuedClaim claim, ClaimHandler handler) {}

  /**
   * A store.
   *
   * @param direct whether it does its work on the thread that asks
   */
  SimStore(
      Machine machine,
      Network network,
      Server server,
      History history,
      StoreContext context,
      boolean direct) {
    this.direct = direct;
    this.world = machine.world;
    this.machine = machine;
    this.network = network;
    this.server = server;
    this.history = history;
    this.context = context;
  }

  Machine machine() {
    return machine;
  }

  boolean isClosed() {
    return closed;
  }

  @Override
  public String description() {
    return "sim:";
  }

  @Override
  public Guarantees guarantees() {
    return GUARANTEES;
  }

  // Calls. --------------------------------------------------------------------------------------

  /** A request under way, that fails when no answer comes in time. */
  private final class Call<T> {
    final CompletableFuture<T> future = new CompletableFuture<>();
    final Request<T> request;
    private final Consumer<T> late;
    private final Time.Timer timeout;

    Call(Request<T> request, Consumer<T> late) {
      this.request = request;
      this.late = late;
      this.timeout =
          context
              .time()
              .schedule(context.operationTimeout().toNanos(), () -> fail("was not answered"));
    }

    void fail(String why) {
      calls.remove(this);
      timeout.cancel();
      boolean unused =
          future.completeExceptionally(
              new StoreUnavailableException(description(), request.what() + " " + why, null));
    }

    void answer(@Nullable T value, @Nullable RuntimeException refused) {
      calls.remove(this);
      timeout.cancel();
      if (closed) {
        return;
      }
      boolean inTime =
          refused != null
              ? future.completeExceptionally(refused)
              : future.complete(java.util.Objects.requireNonNull(value));
      if (!inTime) {
        world.tally.add(Count.LATE_REPLIES);
        if (value != null) {
          late.accept(value);
        }
      }
    }
  }

  private <T> CompletableFuture<T> call(Wire wire, Request<T> request, Consumer<T> late) {
    if (closed) {
      return CompletableFuture.failedFuture(
          new StoreUnavailableException(description(), "The store is closed", null));
    }
    boolean breaks = network.isBroken(machine, wire);
    // What was sent before the Error is not undone by something that can overtake it.
    if (breaks && (network.isPooled() || world.chance(500))) {
      throw broken(request);
    }
    world.note(machine.name, "sends %s", request.what());
    Call<T> call = new Call<>(request, late);
    calls.add(call);
    if (direct) {
      serveHere(wire, call);
    } else {
      send(wire, call);
    }
    if (breaks) {
      throw broken(request);
    }
    return call.future;
  }

  private DriverError broken(Request<?> request) {
    world.tally.add(Count.ERRORS_THROWN);
    world.note(machine.name, "%s throws an Error", request.what());
    return new DriverError(request.what());
  }

  private <T> void send(Wire wire, Call<T> call) {
    network.toServer(
        machine,
        wire,
        call.request.what(),
        () ->
            server.serve(
                this,
                call.request,
                (value, refused) ->
                    network.toClient(
                        machine,
                        wire,
                        "the answer to " + call.request.what(),
                        () -> call.answer(value, refused))));
  }

  /** As a store in the same process does it: all is over when the call returns. */
  private <T> void serveHere(Wire wire, Call<T> call) {
    if (network.losesRequest(machine, wire) || !server.isRunning()) {
      call.fail("was not heard");
      return;
    }
    server.serve(
        this,
        call.request,
        (value, refused) -> {
          world.tally.add(Count.ANSWERS_TO_THE_CALLER_ITSELF);
          if (network.losesReply(machine, wire)) {
            call.fail("was not answered");
          } else {
            call.answer(value, refused);
          }
        });
  }

  private static <T> void ignore(T late) {}

  private <T> Request<T> request(
      Kind kind, String name, Owner owner, Function<LockTable, T> action) {
    String what = world.isRecorded() ? kind + " " + name + " by " + owner : kind.name();
    return new Request<>(what, kind, List.of(name), List.of(owner), 0, action);
  }

  // Claims. -------------------------------------------------------------------------------------

  @Override
  public void claim(ClaimRequest request, ClaimHandler handler) {
    Owner owner = request.owner();
    ClaimHandler routed = new Routed(owner, handler);
    QueuedClaim claim =
        new QueuedClaim(description(), request, routed, context, POLL, r -> ask(r, routed));
    Route before = claims.put(owner, new Route(claim, routed));
    if (before != null) {
      before.claim.stop();
    }
    try {
      claim.ask();
    } catch (DriverError e) {
      claims.remove(owner);
      throw e;
    }
  }

  private CompletableFuture<ClaimAnswer> ask(ClaimRequest request, ClaimHandler handler) {
    Moment sent = context.time().now();
    return call(
        Wire.CLAIMS,
        request(
            Kind.CLAIM,
            request.name(),
            request.owner(),
            table -> table.claim(request, context.client())),
        late -> {
          if (late instanceof ClaimAnswer.Granted granted) {
            handler.granted(new Grant(granted.number(), new Validity(sent, granted.length())));
          } else if (late instanceof ClaimAnswer.Waiting waiting) {
            handler.waiting(waiting.obstacle());
          }
        });
  }

  /** Forgets where to route pushes to, once the claim is settled. */
  private final class Routed implements ClaimHandler {
    private final Owner owner;
    private final ClaimHandler handler;

    Routed(Owner owner, ClaimHandler handler) {
      this.owner = owner;
      this.handler = handler;
    }

    @Override
    public void granted(Grant grant) {
      claims.remove(owner);
      handler.granted(grant);
    }

    @Override
    public void waiting(io.fenceline.spi.Obstacle obstacle) {
      handler.waiting(obstacle);
    }

    @Override
    public void refused(io.fenceline.spi.Obstacle obstacle) {
      claims.remove(owner);
      handler.refused(obstacle);
    }

    @Override
    public void failed(RuntimeException cause) {
      claims.remove(owner);
      if (cause instanceof StoreUnavailableException) {
        world.tally.add(Count.UNKNOWN_CLAIMS);
      }
      handler.failed(cause);
    }
  }

  /** The server has granted a claim that waited. */
  void push(LockTable.Push push) {
    boolean unused =
        network.toClient(
            machine,
            Wire.PUSHES,
            "a push",
            () -> {
              Route route = claims.get(push.claim().owner());
              if (route != null) {
                route.claim.pushed(push.number(), push.length());
              }
            });
  }

  private void stop(Owner owner) {
    Route route = claims.remove(owner);
    if (route != null) {
      route.claim.stop();
    }
  }

  @Override
  public CompletableFuture<Void> withdraw(ClaimRequest request) {
    stop(request.owner());
    return call(
            Wire.CLAIMS,
            request(
                Kind.WITHDRAW,
                request.name(),
                request.owner(),
                table -> {
                  table.withdraw(request);
                  return "done";
                }),
            SimStore::ignore)
        .thenAccept(done -> {});
  }

  // Grants. -------------------------------------------------------------------------------------

  @Override
  public List<CompletableFuture<Renewal>> renew(List<RenewRequest> requests) {
    Moment sent = context.time().now();
    List<String> names = new ArrayList<>();
    List<Owner> owners = new ArrayList<>();
    for (RenewRequest request : requests) {
      names.add(request.grant().claim().name());
      owners.add(request.grant().claim().owner());
    }
    String what = world.isRecorded() ? "RENEW " + names + " by " + owners : "RENEW";
    CompletableFuture<List<Boolean>> answers =
        call(
            Wire.RENEWALS,
            new Request<>(
                what,
                Kind.RENEW,
                names,
                owners,
                0,
                table -> requests.stream().map(table::renew).toList()),
            SimStore::ignore);
    List<CompletableFuture<Renewal>> each = new ArrayList<>();
    for (int i = 0; i < requests.size(); i++) {
      int index = i;
      Validity validity = new Validity(sent, requests.get(i).lease());
      each.add(
          answers.thenApply(all -> all.get(index) ? new Renewal.Renewed(validity) : Renewal.GONE));
    }
    // After all who wait for the answers have heard them.
    answers.thenAccept(all -> machine.user(0, "look after a renewal", () -> told(requests, all)));
    return each;
  }

  private void told(List<RenewRequest> requests, List<Boolean> renewed) {
    for (int i = 0; i < requests.size(); i++) {
      if (!renewed.get(i)) {
        history.toldGone(machine, requests.get(i).grant());
      }
    }
  }

  @Override
  public CompletableFuture<Release> release(ReleaseRequest request) {
    ClaimRequest claim = request.grant().claim();
    stop(claim.owner());
    if (request.keepClosed().compareTo(claim.delay()) > 0) {
      history.keepsClosed(context.client().label(), request.grant());
    }
    return call(
        Wire.CLAIMS,
        request(Kind.RELEASE, claim.name(), claim.owner(), table -> table.release(request)),
        SimStore::ignore);
  }

  @Override
  public CompletableFuture<Boolean> forceRelease(String name, long number) {
    return call(
        Wire.CLAIMS,
        new Request<>(
            "FORCE " + name,
            Kind.FORCE,
            List.of(name),
            List.of(),
            number,
            table -> table.forceRelease(name, number)),
        SimStore::ignore);
  }

  // Views. --------------------------------------------------------------------------------------

  @Override
  public CompletableFuture<NameState> inspect(String name) {
    return call(
        Wire.CLAIMS,
        new Request<>(
            "LOOK at " + name,
            Kind.LOOK,
            List.of(name),
            List.of(),
            0,
            table -> table.inspect(name)),
        SimStore::ignore);
  }

  @Override
  public CompletableFuture<List<NameState>> list(String prefix, int limit) {
    return call(
        Wire.CLAIMS,
        new Request<>(
            "LOOK at all", Kind.LOOK, List.of(), List.of(), 0, table -> table.list(prefix, limit)),
        SimStore::ignore);
  }

  @Override
  public void close() {
    closed = true;
    List<Route> waiting = new ArrayList<>(claims.values());
    claims.clear();
    for (Route route : waiting) {
      route.claim.stop();
      route.handler.failed(
          new StoreUnavailableException(description(), "The store was closed", null));
    }
    new ArrayList<>(calls).forEach(call -> call.fail("ended with its connection"));
  }
}
