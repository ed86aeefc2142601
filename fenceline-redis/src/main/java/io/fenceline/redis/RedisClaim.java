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
import org.jspecify.annotations.Nullable;

/** A claim that may have to wait, and where messages for it are handed in until it has ended. */
final class RedisClaim implements ClaimHandler {
  private final Owner owner;
  private final ClaimHandler handler;
  private final Open open;
  private final Consumer<RedisClaim> whenWaiting;
  private @Nullable QueuedClaim asked;

  /** The claims that wait, by owner. */
  static final class Open {
    private final ConcurrentHashMap<Owner, RedisClaim> byOwner = new ConcurrentHashMap<>();

    @Nullable RedisClaim find(Owner owner) {
      return byOwner.get(owner);
    }

    void stop(Owner owner) {
      RedisClaim stopped = byOwner.remove(owner);
      if (stopped != null && stopped.asked != null) {
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

  RedisClaim(
      ClaimRequest request, ClaimHandler handler, Open open, Consumer<RedisClaim> whenWaiting) {
    this.owner = request.owner();
    this.handler = handler;
    this.open = open;
    this.whenWaiting = whenWaiting;
  }

  /** Asks for the first time; messages are taken from now on, as one may overtake the answer. */
  void start(QueuedClaim claim) {
    asked = claim;
    open.byOwner.put(owner, this);
    claim.ask();
  }

  /** A message for this claim: a grant, or, without a number, that it is time to ask. */
  void told(long number, Duration length) {
    QueuedClaim claim = asked;
    if (claim == null) {
      return;
    }
    if (number == 0) {
      claim.ask();
    } else {
      claim.pushed(number, length);
    }
  }

  /** Asks again now: a message may have been missed. */
  void hint() {
    if (asked != null) {
      asked.ask();
    }
  }

  @Override
  public void granted(Grant grant) {
    open.byOwner.remove(owner, this);
    handler.granted(grant);
  }

  @Override
  public void waiting(Obstacle obstacle) {
    handler.waiting(obstacle);
    whenWaiting.accept(this);
  }

  @Override
  public void refused(Obstacle obstacle) {
    open.byOwner.remove(owner, this);
    handler.refused(obstacle);
  }

  @Override
  public void failed(RuntimeException cause) {
    open.byOwner.remove(owner, this);
    handler.failed(cause);
  }
}
