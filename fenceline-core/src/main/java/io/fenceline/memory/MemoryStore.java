package io.fenceline.memory;

import io.fenceline.FencelineException;
import io.fenceline.Guarantee;
import io.fenceline.Guarantees;
import io.fenceline.StoreUnavailableException;
import io.fenceline.spi.ClaimAnswer;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Durations;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Lane;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Moment;
import io.fenceline.spi.NameState;
import io.fenceline.spi.Release;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.Time;
import io.fenceline.spi.Validity;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * One client's end of a {@link MemorySpace}. Every request is done on the calling thread; a waiting
 * claim is granted on the thread of whoever made room for it.
 */
final class MemoryStore implements LockStore {
  static final Guarantees GUARANTEES =
      new Guarantees(
          "memory",
          EnumSet.complementOf(EnumSet.of(Guarantee.LINEARIZABLE)),
          Duration.ofMillis(10),
          Durations.LONGEST,
          "the locks end with the process",
          "none: time is counted from the start of the process",
          "tokens go on from the clock");

  private final MemorySpace space;
  private final StoreContext context;

  // Guarded by itself: one timer for each name that someone waits for through this store.
  private final Map<String, Time.Timer> timers = new HashMap<>();
  private volatile boolean closed;

  MemoryStore(MemorySpace space, StoreContext context) {
    this.space = space;
    this.context = context;
  }

  @Override
  public String description() {
    return "memory:" + space.name();
  }

  @Override
  public Guarantees guarantees() {
    return GUARANTEES;
  }

  private <T> T serve(Moment now, Function<LockTable, T> request) {
    if (closed) {
      throw new StoreUnavailableException(description(), "The store is closed", null);
    }
    return space.serve(now, request);
  }

  private <T> CompletableFuture<T> answer(Function<LockTable, T> request) {
    try {
      return CompletableFuture.completedFuture(serve(context.time().now(), request));
    } catch (FencelineException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public void claim(ClaimRequest request, ClaimHandler handler) {
    Moment sent = context.time().now();
    ClaimAnswer answer;
    try {
      answer =
          serve(
              sent,
              table -> {
                ClaimAnswer given = table.claim(request, context.client());
                if (given instanceof ClaimAnswer.Waiting) {
                  space.await(request.owner(), handler, this);
                }
                return given;
              });
    } catch (FencelineException e) {
      handler.failed(e);
      return;
    }
    if (answer instanceof ClaimAnswer.Granted granted) {
      handler.granted(new Grant(granted.number(), new Validity(sent, granted.length())));
    } else if (answer instanceof ClaimAnswer.Refused refused) {
      handler.refused(refused.obstacle());
    } else if (answer instanceof ClaimAnswer.Waiting waiting) {
      handler.waiting(waiting.obstacle());
      lookAgainAtTheEnd(request.name());
    }
  }

  /** A holder that never releases opens the name by its end; someone has to look then. */
  private void lookAgainAtTheEnd(String name) {
    OptionalLong wait = space.serve(context.time().now(), table -> table.millisToNextEnd(name));
    if (wait.isEmpty()) {
      return;
    }
    synchronized (timers) {
      if (closed || timers.containsKey(name)) {
        return;
      }
      long delay = Math.max(1, wait.getAsLong()) * 1_000_000;
      timers.put(
          name,
          context
              .time()
              .schedule(delay, () -> context.time().lane(Lane.WORK).execute(() -> look(name))));
    }
  }

  private void look(String name) {
    synchronized (timers) {
      timers.remove(name);
    }
    if (closed) {
      return;
    }
    space.serve(
        context.time().now(),
        table -> {
          table.settle(name);
          return table;
        });
    lookAgainAtTheEnd(name);
  }

  @Override
  public CompletableFuture<Void> withdraw(ClaimRequest request) {
    return answer(
            table -> {
              space.forget(request.owner());
              table.withdraw(request);
              return table;
            })
        .thenAccept(table -> {});
  }

  @Override
  public List<CompletableFuture<Renewal>> renew(List<RenewRequest> requests) {
    List<CompletableFuture<Renewal>> answers = new ArrayList<>(requests.size());
    for (RenewRequest request : requests) {
      Moment sent = context.time().now();
      answers.add(
          answer(
              table ->
                  table.renew(request)
                      ? new Renewal.Renewed(new Validity(sent, request.lease()))
                      : Renewal.GONE));
    }
    return answers;
  }

  @Override
  public CompletableFuture<Release> release(ReleaseRequest request) {
    return answer(table -> table.release(request));
  }

  @Override
  public CompletableFuture<Boolean> forceRelease(String name, long number) {
    return answer(table -> table.forceRelease(name, number));
  }

  @Override
  public CompletableFuture<NameState> inspect(String name) {
    return answer(table -> table.inspect(name));
  }

  @Override
  public CompletableFuture<List<NameState>> list(String prefix, int limit) {
    return answer(table -> table.list(prefix, limit));
  }

  @Override
  public void close() {
    synchronized (timers) {
      closed = true;
      timers.values().forEach(Time.Timer::cancel);
      timers.clear();
    }
    StoreUnavailableException gone =
        new StoreUnavailableException(description(), "The store was closed", null);
    space.forgetAll(this).forEach(handler -> handler.failed(gone));
  }
}
