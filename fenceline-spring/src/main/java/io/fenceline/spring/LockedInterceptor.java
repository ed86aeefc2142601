package io.fenceline.spring;

import io.fenceline.Fenceline;
import io.fenceline.LockTimeoutException;
import io.fenceline.spi.Causes;
import io.fenceline.spring.LockedCall.Body;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;

/** Puts the calls of locked methods under their locks. */
final class LockedInterceptor implements MethodInterceptor {
  private final LockedOperations operations;
  private final Function<String, Fenceline> clients;
  private final Supplier<LockSettings> settings;

  LockedInterceptor(
      LockedOperations operations,
      Function<String, Fenceline> clients,
      Supplier<LockSettings> settings) {
    this.operations = operations;
    this.clients = clients;
    this.settings = settings;
  }

  @Override
  public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
    Object target = Objects.requireNonNull(invocation.getThis(), "target");
    LockedOperation operation =
        operations.of(invocation.getMethod(), AopUtils.getTargetClass(target));
    if (operation == null) {
      return invocation.proceed();
    }
    @Nullable Object[] arguments = invocation.getArguments();
    LockedCall call =
        operation.call(clients.apply(operation.client()), settings.get(), target, arguments);
    // Each run has a copy of its own: a publisher may be subscribed to more than once, and a stage
    // begins after this call has returned.
    Body body =
        held ->
            ((ProxyMethodInvocation) invocation)
                .invocableClone(operation.filled().fill(arguments, held))
                .proceed();
    return switch (operation.returns()) {
      case RESULT -> blocking(operation, call, body, target, arguments);
      case STAGE -> stage(operation, call, body, target, arguments);
      case PUBLISHER -> publisher(operation, call, body, target, arguments);
    };
  }

  private static @Nullable Object blocking(
      LockedOperation operation,
      LockedCall call,
      Body body,
      Object target,
      @Nullable Object[] arguments)
      throws Throwable {
    boolean[] begun = new boolean[1];
    try {
      return call.run(
          held -> {
            begun[0] = true;
            return body.run(held);
          });
    } catch (LockTimeoutException e) {
      if (begun[0]) {
        throw e; // Of a lock further inside.
      }
      if (operation.skips()) {
        return operation.method().getReturnType() == Optional.class ? Optional.empty() : null;
      }
      return refused(operation, target, arguments, e);
    } catch (InterruptedException e) {
      if (begun[0] || declares(operation)) {
        throw e;
      }
      Thread.currentThread().interrupt();
      throw new IllegalStateException(
          "Interrupted while waiting for lock '%s'; it was not acquired".formatted(call.name()), e);
    }
  }

  private static boolean declares(LockedOperation operation) {
    return Arrays.stream(operation.method().getExceptionTypes())
        .anyMatch(type -> type.isAssignableFrom(InterruptedException.class));
  }

  private static @Nullable Object refused(
      LockedOperation operation,
      Object target,
      @Nullable Object[] arguments,
      LockTimeoutException refusal)
      throws Throwable {
    Fallback fallback = operation.fallback();
    if (fallback == null) {
      throw refusal;
    }
    List<@Nullable Object> given = operation.filled().others(arguments);
    return fallback.call(target, given, refusal);
  }

  @SuppressWarnings({"unchecked", "IllegalCatch"})
  private static CompletableFuture<@Nullable Object> stage(
      LockedOperation operation,
      LockedCall call,
      Body body,
      Object target,
      @Nullable Object[] arguments) {
    CompletableFuture<@Nullable Object> guarded = call.runAsync(body);
    if (operation.fallback() == null) {
      return guarded;
    }
    CompletableFuture<@Nullable Object> result =
        guarded
            .handle(
                (done, failure) -> {
                  @Nullable Throwable cause = failure == null ? null : Causes.unwrap(failure);
                  if (!(cause instanceof LockTimeoutException refusal)
                      || !refusal.name().equals(call.name())) {
                    return guarded;
                  }
                  try {
                    Object instead = refused(operation, target, arguments, refusal);
                    return ((CompletionStage<@Nullable Object>) Objects.requireNonNull(instead))
                        .toCompletableFuture();
                  } catch (Throwable e) {
                    return CompletableFuture.<@Nullable Object>failedFuture(e);
                  }
                })
            .thenCompose(Function.identity());
    // Whoever cancels what we return gives up the wait.
    result.whenComplete(
        (done, failure) -> {
          if (result.isCancelled()) {
            guarded.cancel(false);
          }
        });
    return result;
  }

  @SuppressWarnings("IllegalCatch")
  private static Object publisher(
      LockedOperation operation,
      LockedCall call,
      Body body,
      Object target,
      @Nullable Object[] arguments) {
    Function<LockTimeoutException, @Nullable Object> instead =
        refusal ->
            LockedContext.within(
                LockedContext.current(), () -> refused(operation, target, arguments, refusal));
    return Publishers.guard(
        Objects.requireNonNull(operation.publishes()),
        call,
        body,
        call.options().interruptsOnLoss(),
        operation.fallback() == null ? null : instead);
  }
}
