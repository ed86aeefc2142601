package io.fenceline.redis.claim;

import io.fenceline.redis.layout.Answers;
import io.fenceline.redis.layout.Script;
import io.fenceline.spi.Owner;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The claims of a store that may wait, and the messages for them. */
public final class Claims {
  /** Messages name owners by their SHA-1, in hexadecimal digits: a script can make no other. */
  private static final int HASH_LENGTH = 40;

  private final Map<String, Claim> byHash = new ConcurrentHashMap<>();

  /** The hash by which messages name an owner. */
  static String hash(Owner owner) {
    return HexFormat.of().formatHex(Script.sha1(owner.bytes()));
  }

  /** From now on messages find a claim. */
  void add(Claim claim, String ownerHash) {
    byHash.put(ownerHash, claim);
  }

  /** The claim has ended. */
  void remove(Claim claim, String ownerHash) {
    byHash.remove(ownerHash, claim);
  }

  /** A claim is withdrawn: it is not asked for again. */
  public void stop(Owner owner) {
    Claim stopped = byHash.get(hash(owner));
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

  /** Fails all that wait. */
  public void close(RuntimeException cause) {
    for (Claim claim : List.copyOf(byHash.values())) {
      claim.close(cause);
    }
  }
}
