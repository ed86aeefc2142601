package io.fenceline.memory;

import io.fenceline.FencelineException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.diagnosis.Certainty;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.diagnosis.Guarantees;
import io.fenceline.settings.LeaseLimits;
import io.fenceline.spi.ClaimAnswer;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.NameState;
import io.fenceline.spi.Release;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.Validity;
import io.fenceline.time.Moment;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
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
          Certainty.YES,
          LeaseLimits.from(Duration.ofMillis(10)),
          "a crash of the process ends its holders along with the locks",
          "the locks end with the process",
          "none: time is counted from the start of the process",
          "tokens go on from the clock");

  private final MemorySpace space;
  private final StoreContext context;
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

  Time time() {
    return context.time();
  }

  boolean isClosed() {
    return closed;
  }

  private <T> T serve(String name, Moment now, Function<LockTable, T> request) {
    return space.serve(
        name,
        now,
        this,
        table -> {
          if (closed) {
            throw new StoreUnavailableException(description(), "The store is closed", null);
          }
          return request.apply(table);
        });
  }

  private <T> CompletableFuture<T> answer(String name, Function<LockTable, T> request) {
    try {
      return CompletableFuture.completedFuture(serve(name, time().now(), request));
    } catch (FencelineException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public void claim(ClaimRequest request, ClaimHandler handler) {
    Moment sent = time().now();
    ClaimAnswer answer;
    try {
      answer =
          serve(
              request.name(),
              sent,
              table -> {
                ClaimAnswer given = table.claim(request, context.client());
                if (given instanceof ClaimAnswer.Waiting) {
                  space.await(request, handler, this);
                }
                return given;
              });
    } catch (FencelineException e) {
      handler.failed(e);
      return;
    }
    answer.tell(handler, sent);
  }

  @Override
  public CompletableFuture<Void> withdraw(ClaimRequest request) {
    return answer(
            request.name(),
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
      Moment sent = time().now();
      answers.add(
          answer(
              request.grant().claim().name(),
              table ->
                  table.renew(request)
                      ? new Renewal.Renewed(new Validity(sent, request.lease()))
                      : Renewal.GONE));
    }
    return answers;
  }

  @Override
  public CompletableFuture<Release> release(ReleaseRequest request) {
    return answer(request.grant().claim().name(), table -> table.release(request));
  }

  @Override
  public CompletableFuture<Boolean> forceRelease(String name, long number) {
    return answer(name, table -> table.forceRelease(name, number));
  }

  @Override
  public CompletableFuture<NameState> inspect(String name) {
    return answer(name, table -> table.inspect(name));
  }

  @Override
  public CompletableFuture<List<NameState>> list(String prefix, int limit) {
    return answer(prefix, table -> table.list(prefix, limit));
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    StoreUnavailableException gone =
        new StoreUnavailableException(description(), "The store was closed", null);
    space.leave(this, time().now()).forEach(handler -> handler.failed(gone));
  }
}
