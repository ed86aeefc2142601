package io.fenceline.testkit.fault;

import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.diagnosis.Finding;
import io.fenceline.diagnosis.Guarantees;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.NameState;
import io.fenceline.spi.Release;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.StoreFactory;
import io.fenceline.time.Moment;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A way to any store on which requests and replies get lost, or are under way for as long as a test
 * wants.
 *
 * <pre>{@code
 * LossyStore[] way = new LossyStore[1];
 * Fenceline fenceline =
 *     Fenceline.builder()
 *         .store((StoreFactory) context -> way[0] = new LossyStore(space.factory(), context))
 *         .connect();
 * way[0].fault(LossyStore.Operation.RELEASE, LossyStore.Fault.LOSE_REPLY);
 * }</pre>
 *
 * <p>What is lost fails at once with {@link StoreUnavailableException}, as when a connection
 * breaks; what is refused, with {@link StoreRefusedException}. Thread-safe.
 */
public final class LossyStore implements LockStore {

  /** What is asked of the store. */
  public enum Operation {
    /** See {@link LockStore#claim}. */
    CLAIM,
    /** See {@link LockStore#withdraw}. */
    WITHDRAW,
    /** See {@link LockStore#renew}. */
    RENEW,
    /** See {@link LockStore#release}. */
    RELEASE,
    /** See {@link LockStore#forceRelease}, {@link LockStore#inspect} and {@link LockStore#list}. */
    OTHER
  }

  /** What happens on the way. */
  public enum Fault {
    /** The request does not reach the store. */
    LOSE_REQUEST,
    /** The store does what it is asked, and its answer does not come back. */
    LOSE_REPLY,
    /** The request is under way until {@link #letGo}. */
    HOLD_REQUEST,
    /** The store does what it is asked, and its answer is under way until {@link #letGo}. */
    HOLD_REPLY,
    /** The request does not reach the store, and is answered with a refusal for good. */
    REFUSE
  }

  private final LockStore store;
  private final Time time;

  // Guarded by this.
  private final Map<Operation, Fault> faults = new EnumMap<>(Operation.class);
  private final Map<Operation, Integer> asked = new EnumMap<>(Operation.class);
  private final List<Runnable> held = new ArrayList<>();
  private int met;
  private boolean vanished;

  /** A way to a store that is opened for a client, without faults at first. */
  public LossyStore(StoreFactory factory, StoreContext context) {
    this.store = factory.open(context);
    this.time = context.time();
  }

  /** Returns the same, for a client that opens its store by itself; the last one opened is kept. */
  public static StoreFactory over(StoreFactory factory, LossyStore[] opened) {
    return context -> opened[0] = new LossyStore(factory, context);
  }

  /** Returns the time of the client. */
  public Moment now() {
    return time.now();
  }

  // What a test does. ---------------------------------------------------------------------------

  /** From now on, this happens to every such operation. */
  public synchronized void fault(Operation operation, Fault fault) {
    faults.put(operation, fault);
  }

  /** From now on, this happens to everything. */
  public synchronized void fault(Fault fault) {
    for (Operation operation : Operation.values()) {
      faults.put(operation, fault);
    }
  }

  /** No more faults; what is held back goes on. What has vanished stays so. */
  public void heal() {
    synchronized (this) {
      if (vanished) {
        return;
      }
      faults.clear();
    }
    letGo();
  }

  /** What is held back goes on, in its order. */
  public void letGo() {
    List<Runnable> free;
    synchronized (this) {
      free = List.copyOf(held);
      held.clear();
    }
    free.forEach(Runnable::run);
  }

  /**
   * Ends like a process that was killed: nothing reaches the store any more. What is left of the
   * client finds nothing to clean up, so that it can be closed.
   */
  public void vanish() {
    synchronized (this) {
      vanished = true;
      fault(Fault.LOSE_REQUEST);
    }
    store.close();
  }

  private synchronized boolean hasVanished() {
    return vanished;
  }

  /** Returns how many operations met a fault: proves that it was active. */
  public synchronized int met() {
    return met;
  }

  /** Returns how many such operations were asked for; each renewal counts. */
  public synchronized int asked(Operation operation) {
    return asked.getOrDefault(operation, 0);
  }

  // What a client does. -------------------------------------------------------------------------

  private synchronized @Nullable Fault meet(Operation operation) {
    asked.merge(operation, 1, Integer::sum);
    Fault fault = faults.get(operation);
    if (fault != null) {
      met++;
    }
    return fault;
  }

  private synchronized void hold(Runnable rest) {
    held.add(rest);
  }

  private StoreUnavailableException lost(Operation operation) {
    return new StoreUnavailableException(
        store.description(), "The " + operation + " was lost on its way", null);
  }

  private StoreRefusedException refused(Operation operation) {
    return new StoreRefusedException(
        "The %s was refused (store=%s)".formatted(operation, store.description()),
        new IllegalStateException("a right is missing"));
  }

  @Override
  public void claim(ClaimRequest request, ClaimHandler handler) {
    Fault fault = meet(Operation.CLAIM);
    if (fault == null) {
      store.claim(request, handler);
      return;
    }
    switch (fault) {
      case LOSE_REQUEST -> handler.failed(lost(Operation.CLAIM));
      case REFUSE -> handler.failed(refused(Operation.CLAIM));
      case HOLD_REQUEST -> hold(() -> store.claim(request, handler));
      case LOSE_REPLY -> store.claim(request, LossyReplies.losing(handler, lost(Operation.CLAIM)));
      case HOLD_REPLY -> store.claim(request, LossyReplies.holding(handler, this::hold));
    }
  }

  private <T> CompletableFuture<T> pass(
      Operation operation, Supplier<CompletableFuture<T>> request) {
    Fault fault = meet(operation);
    if (fault == null) {
      return request.get();
    }
    CompletableFuture<T> late = new CompletableFuture<>();
    switch (fault) {
      case LOSE_REQUEST -> late.completeExceptionally(lost(operation));
      case REFUSE -> late.completeExceptionally(refused(operation));
      case LOSE_REPLY ->
          request.get().whenComplete((v, e) -> late.completeExceptionally(lost(operation)));
      case HOLD_REQUEST -> hold(() -> request.get().whenComplete(into(late)));
      case HOLD_REPLY -> {
        CompletableFuture<T> answer = request.get();
        hold(() -> answer.whenComplete(into(late)));
      }
    }
    return late;
  }

  private static <T> BiConsumer<T, @Nullable Throwable> into(CompletableFuture<T> late) {
    return (value, failure) -> {
      if (failure == null) {
        late.complete(value);
      } else {
        late.completeExceptionally(failure);
      }
    };
  }

  @Override
  public CompletableFuture<Void> withdraw(ClaimRequest request) {
    if (hasVanished()) {
      return CompletableFuture.allOf();
    }
    return pass(Operation.WITHDRAW, () -> store.withdraw(request));
  }

  @Override
  public List<CompletableFuture<Renewal>> renew(List<RenewRequest> requests) {
    synchronized (this) {
      if (!faults.containsKey(Operation.RENEW)) {
        asked.merge(Operation.RENEW, requests.size(), Integer::sum);
        return store.renew(requests);
      }
    }
    List<CompletableFuture<Renewal>> answers = new ArrayList<>();
    for (RenewRequest request : requests) {
      answers.add(pass(Operation.RENEW, () -> store.renew(List.of(request)).get(0)));
    }
    return answers;
  }

  @Override
  public CompletableFuture<Release> release(ReleaseRequest request) {
    if (hasVanished()) {
      return CompletableFuture.completedFuture(Release.GONE);
    }
    return pass(Operation.RELEASE, () -> store.release(request));
  }

  @Override
  public CompletableFuture<Boolean> forceRelease(String name, long number) {
    return pass(Operation.OTHER, () -> store.forceRelease(name, number));
  }

  @Override
  public CompletableFuture<NameState> inspect(String name) {
    return pass(Operation.OTHER, () -> store.inspect(name));
  }

  @Override
  public CompletableFuture<List<NameState>> list(String prefix, int limit) {
    return pass(Operation.OTHER, () -> store.list(prefix, limit));
  }

  @Override
  public CompletableFuture<List<Finding>> diagnose() {
    return pass(Operation.OTHER, store::diagnose);
  }

  @Override
  public String description() {
    return store.description();
  }

  @Override
  public Guarantees guarantees() {
    return store.guarantees();
  }

  @Override
  public void checkLease(Duration lease, Duration delay) {
    store.checkLease(lease, delay);
  }

  @Override
  public void close() {
    if (!hasVanished()) {
      store.close();
    }
  }
}
