package io.fenceline.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.FencingToken;
import io.fenceline.Hold;
import io.fenceline.LockLostException;
import io.fenceline.LockTimeoutException;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.annotation.Autowired;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * The lock of a method that returns before its work is done.
 *
 * <p>ShedLock releases when the method returns its Mono or Future, refused reactive types
 * (ShedLock#2307), and declined suspending functions (ShedLock#3479).
 */
@Timeout(300)
class LockedResultsTest {
  private static final Duration BOUND = Duration.ofSeconds(30);

  private Application application;

  @AfterEach
  void stop() {
    application.close();
  }

  private Later start() {
    application = Application.start(Later.class, Inner.class);
    return application.bean(Later.class);
  }

  static class Inner {
    @Locked("m:#{#id}")
    public Mono<FencingToken> token(int id, FencingToken token) {
      return Mono.just(token);
    }
  }

  static class Later {
    @Autowired Inner inner;

    @Locked("s:#{#id}")
    public CompletionStage<String> stage(int id, CompletableFuture<String> until) {
      return until;
    }

    @Locked(name = "s:#{#id}", maxWait = "0s", fallback = "instead")
    public CompletableFuture<String> stageOr(int id) {
      return CompletableFuture.completedFuture("done");
    }

    private CompletableFuture<String> instead(int id) {
      return CompletableFuture.completedFuture("instead of " + id);
    }

    @Locked("s:#{#id}")
    public CompletableFuture<String> throwing(int id) {
      throw new IllegalStateException("own");
    }

    @Locked("m:#{#id}")
    public Mono<String> mono(int id, Mono<String> until) {
      return until;
    }

    @Locked("m:#{#id}")
    public Mono<List<FencingToken>> nested(int id, FencingToken token) {
      return Mono.zip(
          parts -> List.of(token, (FencingToken) parts[0], (FencingToken) parts[1]),
          inner.token(id, null),
          ReactiveLockedContext.currentToken());
    }

    @Locked(name = "m:#{#id}", maxWait = "0s", fallback = "fluxInstead")
    public Flux<Integer> flux(int id, Hold hold) {
      return Flux.range(1, 3);
    }

    Flux<Integer> fluxInstead(int id, LockTimeoutException refusal) {
      return Flux.just(-1);
    }

    @Locked("f:#{#id}")
    public Flow.Publisher<Integer> flow(int id) {
      return JdkFlowAdapter.publisherToFlowPublisher(Flux.range(1, 3));
    }
  }

  private void awaitFree(String lock) {
    Eventually.until(BOUND, lock + " is free", () -> application.isFree(lock));
  }

  private void awaitHeld(String lock) {
    Eventually.until(BOUND, lock + " is held", () -> !application.isFree(lock));
  }

  @Test
  void stage_holdsTheLockUntilItCompletes() {
    Later later = start();
    CompletableFuture<String> until = new CompletableFuture<>();
    CompletableFuture<String> result = later.stage(1, until).toCompletableFuture();
    awaitHeld("s:1");
    assertThat(result).isNotDone();

    until.complete("x");

    assertThat(result.join()).isEqualTo("x");
    awaitFree("s:1");
  }

  @Test
  void stageThatFails_orIsNeverMade_releases() {
    Later later = start();
    CompletableFuture<String> until =
        CompletableFuture.failedFuture(new IllegalStateException("own"));
    assertThatThrownBy(() -> later.stage(1, until).toCompletableFuture().join())
        .isInstanceOf(CompletionException.class)
        .hasRootCauseMessage("own");
    assertThatThrownBy(() -> later.throwing(2).join()).hasRootCauseMessage("own");
    awaitFree("s:1");
    awaitFree("s:2");
  }

  @Test
  void stage_thatIsCancelledWhileItWaits_givesUpTheWait() {
    Later later = start();
    try (Hold held = application.other().lock("s:1").tryAcquire().orElseThrow()) {
      CompletableFuture<String> result =
          later.stage(1, CompletableFuture.completedFuture("x")).toCompletableFuture();
      Eventually.until(
          BOUND, "it waits", () -> !application.other().inspect("s:1").waiters().isEmpty());
      result.cancel(false);
      Eventually.until(
          BOUND, "nobody waits", () -> application.other().inspect("s:1").waiters().isEmpty());
    }
    awaitFree("s:1");
  }

  @Test
  void stage_hasAFallback() {
    Later later = start();
    assertThat(later.stageOr(1).join()).isEqualTo("done");
    try (Hold held = application.other().lock("s:1").tryAcquire().orElseThrow()) {
      assertThat(later.stageOr(1).join()).isEqualTo("instead of 1");
    }
  }

  /** ShedLock#2307: reactive types are refused there; before, the lock was released too early. */
  @Test
  void mono_locksForEachSubscriber_untilItsEnd() {
    Later later = start();
    Sinks.One<String> until = Sinks.one();
    Mono<String> mono = later.mono(1, until.asMono());
    assertThat(application.isFree("m:1")).as("nobody has subscribed").isTrue();

    CompletableFuture<String> result = mono.toFuture();
    awaitHeld("m:1");
    until.tryEmitValue("x");

    assertThat(result.join()).isEqualTo("x");
    awaitFree("m:1");
    assertThat(mono.block(BOUND)).as("a second subscriber").isEqualTo("x");
    awaitFree("m:1");
  }

  @Test
  void mono_thatIsCancelled_releases() {
    Later later = start();
    Disposable running = later.mono(1, Mono.never()).subscribe();
    awaitHeld("m:1");
    running.dispose();
    awaitFree("m:1");
  }

  @Test
  void mono_thatIsCancelledWhileItWaits_givesUpTheWait() {
    Later later = start();
    try (Hold held = application.other().lock("m:1").tryAcquire().orElseThrow()) {
      Disposable waiting = later.mono(1, Mono.never()).subscribe();
      Eventually.until(
          BOUND, "it waits", () -> !application.other().inspect("m:1").waiters().isEmpty());
      waiting.dispose();
      Eventually.until(
          BOUND, "nobody waits", () -> application.other().inspect("m:1").waiters().isEmpty());
    }
    awaitFree("m:1");
  }

  @Test
  void publisher_carriesItsToken_andEntersAgain() {
    List<FencingToken> tokens = start().nested(1, null).block(BOUND);
    assertThat(tokens).hasSize(3).containsOnly(tokens.get(0));
    awaitFree("m:1");
  }

  @Test
  void flux_andPublishersOfOtherLibraries_areLocked() {
    Later later = start();
    assertThat(later.flux(1, null).collectList().block(BOUND)).containsExactly(1, 2, 3);
    assertThat(JdkFlowAdapter.flowPublisherToFlux(later.flow(1)).collectList().block(BOUND))
        .containsExactly(1, 2, 3);
    try (Hold held = application.other().lock("m:1").tryAcquire().orElseThrow();
        Hold more = application.other().lock("f:1").tryAcquire().orElseThrow()) {
      assertThat(later.flux(1, null).collectList().block(BOUND)).containsExactly(-1);
      Disposable waiting = JdkFlowAdapter.flowPublisherToFlux(later.flow(1)).subscribe();
      Eventually.until(
          BOUND, "it waits", () -> !application.other().inspect("f:1").waiters().isEmpty());
      waiting.dispose();
    }
  }

  static class Lost {
    ManualTime time;

    @Locked(name = "lost", lease = "10s")
    public Mono<String> mono() {
      return Mono.fromSupplier(
          () -> {
            time.pause(Duration.ofSeconds(11));
            return "written";
          });
    }

    @Locked(name = "lost", fixedLease = "10s", interruptOnLoss = true)
    public Mono<String> never() {
      return Mono.never();
    }

    @Locked(name = "lost", lease = "10s")
    public CompletionStage<String> stage() {
      time.pause(Duration.ofSeconds(11));
      return CompletableFuture.completedFuture("written");
    }
  }

  @Test
  void loss_failsTheResult() {
    ManualTime time = new ManualTime();
    application = Application.start(time, Lost.class);
    Lost lost = application.bean(Lost.class);
    ((Lost) AopProxyUtils.getSingletonTarget(lost)).time = time;

    assertThatThrownBy(() -> lost.mono().block(BOUND)).isInstanceOf(LockLostException.class);
    time.advance(Duration.ofMinutes(1));
    assertThatThrownBy(() -> lost.stage().toCompletableFuture().join())
        .hasCauseInstanceOf(LockLostException.class);
    time.advance(Duration.ofMinutes(1));
    CompletableFuture<String> never = lost.never().toFuture();
    time.advance(Duration.ofMinutes(1));
    assertThatThrownBy(never::join).hasCauseInstanceOf(LockLostException.class);
  }
}
