package io.fenceline.spring;

import io.fenceline.FencingToken;
import io.fenceline.Hold;
import io.fenceline.spring.LockedContext.Frame;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/**
 * The locks that a publisher runs under, for code inside a {@link Locked} method that returns one.
 */
public final class ReactiveLockedContext {

  private ReactiveLockedContext() {}

  /** Returns the token of the innermost lock; empty if the publisher runs under none. */
  public static Mono<FencingToken> currentToken() {
    return Mono.deferContextual(context -> Mono.justOrEmpty(findToken(context)));
  }

  /** Returns the token of the innermost lock, from a subscriber's context. */
  public static Optional<FencingToken> findToken(ContextView context) {
    return Frame.innermost(frame(context)).map(Hold::fencingToken);
  }

  static @Nullable Frame frame(ContextView context) {
    return context.<@Nullable Frame>getOrDefault(Frame.class, null);
  }
}
