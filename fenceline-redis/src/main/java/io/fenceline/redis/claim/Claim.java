package io.fenceline.redis.claim;

import io.fenceline.redis.layout.Layout;
import io.fenceline.redis.layout.Script;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Owner;
import io.fenceline.spi.QueuedClaim;
import java.time.Duration;
import java.util.HexFormat;
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
public final class Claim implements ClaimHandler {
  /** Messages name owners by their SHA-1, in hexadecimal digits: a script can make no other. */
  public static final int HASH_LENGTH = 40;

  private final Owner owner;
  private final int bucket;
  private final ClaimHandler handler;
  private final Open open;
  private final Consumer<Claim> whenWaiting;
  private final QueuedClaim asked;
  private volatile boolean listens;
  private volatile String hash = "";

  /** The claims that wait, by owner. */
  public static final class Open {
    private final ConcurrentHashMap<Owner, Claim> byOwner = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<String, Claim> byHash = new ConcurrentHashMap<>();

    /** The claim that a message is for. */
    public @Nullable Claim find(String hash) {
      return byHash.get(hash);
    }

    public void stop(Owner owner) {
      Claim stopped = byOwner.get(owner);
      if (stopped != null) {
        stopped.ended();
        stopped.asked.stop();
      }
    }

    public boolean isEmpty() {
      return byOwner.isEmpty();
    }

    /** Fails all that wait. */
    public void failAll(RuntimeException cause) {
      for (Owner owner : byOwner.keySet()) {
        Claim left = byOwner.get(owner);
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
  public Claim(
      ClaimRequest request,
      ClaimHandler handler,
      Open open,
      Consumer<Claim> whenWaiting,
      Function<Claim, QueuedClaim> queued) {
    this.owner = request.owner();
    this.bucket = Layout.simple(request.name()).bucket();
    this.handler = handler;
    this.open = open;
    this.whenWaiting = whenWaiting;
    this.asked = queued.apply(this);
  }

  public int bucket() {
    return bucket;
  }

  /** Asks for it, for the first time or again, because a message may have been missed. */
  public void ask() {
    asked.ask();
  }

  /** Messages are taken from now on; before it is asked for, as one may overtake the answer. */
  public void listen() {
    if (!listens) { // Not again, if it was stopped since.
      listens = true;
      hash = HexFormat.of().formatHex(Script.sha1(owner.bytes()));
      open.byHash.put(hash, this);
      open.byOwner.put(owner, this);
    }
  }

  private void ended() {
    if (listens) {
      open.byOwner.remove(owner, this);
      open.byHash.remove(hash, this);
    }
  }

  /** A message for this claim: a grant, or, without a number, that it is time to ask. */
  public void told(long number, Duration length) {
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
