package io.fenceline.redis;

import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Owner;
import io.fenceline.spi.QueuedClaim;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A claim that may have to wait, and where messages for it are handed in until it has ended.
 *
 * <p>Nobody can send it one before it was asked for by the script that lets it wait; most claims
 * never are, and are never put where messages look for them.
 */
final class RedisClaim implements ClaimHandler {
  private final Owner owner;
  private final ClaimHandler handler;
  private final Open open;
  private final Consumer<RedisClaim> whenWaiting;
  private final QueuedClaim asked;
  private volatile boolean listens;

  /** The claims that wait, by owner. */
  static final class Open {
    private final ConcurrentHashMap<Owner, RedisClaim> byOwner = new ConcurrentHashMap<>();

    @Nullable RedisClaim find(Owner owner) {
      return byOwner.get(owner);
    }

    void stop(Owner owner) {
      RedisClaim stopped = byOwner.remove(owner);
      if (stopped != null) {
        stopped.asked.stop();
      }
    }

    boolean isEmpty() {
      return byOwner.isEmpty();
    }

    /** Fails all that wait. */
    void failAll(RuntimeException cause) {
      for (Owner owner : byOwner.keySet()) {
        RedisClaim left = byOwner.get(owner);
        stop(owner);
        if (left != null) {
          left.handler.failed(cause);
        }
      }
    }
  }

  /**
   * Not asked for yet.
   *
   * @param queued makes what asks for it
   */
  RedisClaim(
      ClaimRequest request,
      ClaimHandler handler,
      Open open,
      Consumer<RedisClaim> whenWaiting,
      Function<RedisClaim, QueuedClaim> queued) {
    this.owner = request.owner();
    this.handler = handler;
    this.open = open;
    this.whenWaiting = whenWaiting;
    this.asked = queued.apply(this);
  }

  /** Asks for it, for the first time or again, because a message may have been missed. */
  void ask() {
    asked.ask();
  }

  /** Messages are taken from now on; before it is asked for, as one may overtake the answer. */
  void listen() {
    if (!listens) { // Not again, if it was stopped since.
      listens = true;
      open.byOwner.put(owner, this);
    }
  }

  private void ended() {
    if (listens) {
      open.byOwner.remove(owner, this);
    }
  }

  /** A message for this claim: a grant, or, without a number, that it is time to ask. */
  void told(long number, Duration length) {
    if (number == 0) {
      asked.ask();
    } else {
      asked.pushed(number, length);
    }
  }

  @Override
  public void granted(Grant grant) {
    ended();
    handler.granted(grant);
  }

  @Override
  public void waiting(Obstacle obstacle) {
    handler.waiting(obstacle);
    whenWaiting.accept(this);
  }

  @Override
  public void refused(Obstacle obstacle) {
    ended();
    handler.refused(obstacle);
  }

  @Override
  public void failed(RuntimeException cause) {
    ended();
    handler.failed(cause);
  }
}
