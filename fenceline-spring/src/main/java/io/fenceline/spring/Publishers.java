package io.fenceline.spring;

import io.fenceline.Acquirable;
import io.fenceline.Held;
import io.fenceline.Hold;
import io.fenceline.LockTimeoutException;
import io.fenceline.ReleaseOutcome;
import io.fenceline.spring.LockedCall.Body;
import io.fenceline.spring.LockedContext.Frame;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.ReactiveAdapter;
import org.springframework.transaction.NoTransactionException;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Publishers under a lock: acquired for each subscriber, held until it has the end, given up when
 * it cancels.
 */
final class Publishers {
  /** Whether Reactor is there, through which publishers of all libraries are adapted. */
  static final boolean ARE_PRESENT = isPresent("reactor.core.publisher.Flux");

  private static final boolean HAVE_TRANSACTIONS =
      isPresent("org.springframework.transaction.reactive.TransactionSynchronizationManager");

  private Publishers() {}

  private static boolean isPresent(String type) {
    return ClassUtils.isPresent(type, Publishers.class.getClassLoader());
  }

  /**
   * Returns the publisher of a call.
   *
   * @param body calls the method, which assembles its publisher
   * @param interrupts whether a loss ends it at once
   * @param instead what is published if others keep the lock; null fails
   */
  static Object guard(
      ReactiveAdapter adapter,
      LockedCall call,
      Body body,
      boolean interrupts,
      @Nullable Function<LockTimeoutException, @Nullable Object> instead) {
    Flux<Object> guarded =
        Flux.deferContextual(
            context -> {
              Frame outer = ReactiveLockedContext.frame(context);
              Hold entered = call.reentered(outer);
              Mono<Held> acquired =
                  entered == null ? acquire(call) : Mono.fromSupplier(() -> reenter(entered));
              return Flux.usingWhen(
                      acquired,
                      held -> assemble(adapter, call, body, interrupts, outer, held),
                      Publishers::release,
                      (held, failure) -> release(held),
                      Publishers::release)
                  .doOnDiscard(Held.class, Held::releaseAsync);
            });
    if (instead != null) {
      guarded =
          guarded.onErrorResume(
              LockTimeoutException.class,
              refused ->
                  refused.name().equals(call.name())
                      ? publisher(adapter, instead.apply(refused))
                      : Flux.error(refused));
    }
    return adapter.fromPublisher(adapter.isMultiValue() ? guarded : guarded.singleOrEmpty());
  }

  @SuppressWarnings("MustBeClosedChecker") // Released by the publisher that uses it.
  private static Held reenter(Hold entered) {
    return entered.reenter();
  }

  private static Mono<Held> acquire(LockedCall call) {
    return isInTransaction(call)
        .flatMap(
            inside -> {
              if (inside) {
                call.requireAllowed();
              }
              return acquire(call, call.acquirable());
            });
  }

  private static <H extends Held> Mono<Held> acquire(LockedCall call, Acquirable<H> lock) {
    return Mono.fromFuture(() -> lock.acquireAsync(call.maxWait())).cast(Held.class);
  }

  private static Mono<Boolean> isInTransaction(LockedCall call) {
    return HAVE_TRANSACTIONS && !call.ownTransaction() ? Reactive.isActive() : Mono.just(false);
  }

  /** Apart, so that it is not loaded where transactions are not there. */
  private static final class Reactive {
    private Reactive() {}

    static Mono<Boolean> isActive() {
      return TransactionSynchronizationManager.forCurrentTransaction()
          .map(TransactionSynchronizationManager::isActualTransactionActive)
          .onErrorReturn(NoTransactionException.class, false);
    }
  }

  private static Flux<Object> assemble(
      ReactiveAdapter adapter,
      LockedCall call,
      Body body,
      boolean interrupts,
      @Nullable Frame outer,
      Held held) {
    Flux<Object> work = publisher(adapter, call.within(outer, held, body));
    if (interrupts) {
      Mono<Object> lost =
          Mono.fromFuture(held.lost(), true)
              .flatMap(event -> Mono.fromRunnable(held::releaseOrThrow));
      work = work.takeUntilOther(lost);
    }
    // As part of the work: what a cleanup throws is wrapped.
    work = work.concatWith(releaseOrFail(held));
    Frame frame = new Frame(call.client(), call.name(), held, outer);
    return work.contextWrite(context -> context.put(Frame.class, frame));
  }

  private static Flux<Object> publisher(ReactiveAdapter adapter, @Nullable Object source) {
    Publisher<Object> published = adapter.toPublisher(source);
    return Flux.from(published);
  }

  private static Mono<Void> release(Held held) {
    return Mono.fromFuture(held.releaseAsync(), true).then();
  }

  private static Mono<Object> releaseOrFail(Held held) {
    return Mono.fromFuture(held::releaseAsync, true)
        .flatMap(
            outcome -> {
              if (outcome == ReleaseOutcome.ALREADY_LOST) {
                held.releaseOrThrow(); // Says how it was lost.
              }
              return Mono.empty();
            });
  }
}
