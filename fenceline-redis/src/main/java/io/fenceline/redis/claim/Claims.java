package io.fenceline.redis.claim;

import io.fenceline.redis.connection.Topology;
import io.fenceline.redis.layout.Answers;
import io.fenceline.spi.Owner;
import io.fenceline.spi.StoreContext;
import io.fenceline.time.Lane;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/** The claims of a store that may wait, and the messages for them. */
public final class Claims {
  private static final long LISTENING_CHECK_NANOS = 5_000_000_000L;

  /** Messages name owners by their SHA-1, in hexadecimal digits: a script can make no other. */
  private static final int HASH_LENGTH = 40;

  private final Topology topology;
  private final StoreContext context;
  private final Map<Owner, Claim> byOwner = new ConcurrentHashMap<>();
  private final Map<String, Claim> byHash = new ConcurrentHashMap<>();
  private final AtomicBoolean checksListening = new AtomicBoolean();
  private volatile boolean closed;

  public Claims(Topology topology, StoreContext context) {
    this.topology = topology;
    this.context = context;
  }

  /** From now on messages find a claim. */
  void add(Claim claim, String ownerHash) {
    byHash.put(ownerHash, claim);
    byOwner.put(claim.owner(), claim);
  }

  /** The claim has ended. */
  void remove(Claim claim, String ownerHash) {
    byOwner.remove(claim.owner(), claim);
    byHash.remove(ownerHash, claim);
  }

  /** A claim is withdrawn: it is not asked for again. */
  public void stop(Owner owner) {
    Claim stopped = byOwner.get(owner);
    if (stopped != null) {
      stopped.stop();
    }
  }

  /** A message of {@code table.lua}: the owner's hash, then number and length. */
  public void told(byte[] message) {
    if (message.length <= HASH_LENGTH) {
      return;
    }
    String text = Answers.text(message);
    Claim claim = byHash.get(text.substring(0, Math.min(text.length(), HASH_LENGTH)));
    if (claim != null) {
      String[] figures = text.substring(HASH_LENGTH).split(" ", -1);
      claim.told(Long.parseLong(figures[0]), Duration.ofMillis(Long.parseLong(figures[1])));
    }
  }

  /**
   * Makes sure that messages of a bucket come, and that their connection is not silently dead.
   *
   * @return completes when they come; already complete if they did before, and none was missed
   */
  CompletableFuture<Void> listen(int bucket) {
    if (checksListening.compareAndSet(false, true)) {
      checkListeningLater();
    }
    return topology.listen(bucket);
  }

  private void checkListeningLater() {
    context
        .time()
        .schedule(
            LISTENING_CHECK_NANOS,
            () -> context.time().lane(Lane.WORK).execute(this::checkListening));
  }

  private void checkListening() {
    if (closed || byOwner.isEmpty()) {
      checksListening.set(false);
      return;
    }
    topology.checkListening();
    checkListeningLater();
  }

  /** Fails all that wait. */
  public void close(RuntimeException cause) {
    closed = true;
    for (Claim claim : List.copyOf(byOwner.values())) {
      claim.close(cause);
    }
  }
}
