package io.fenceline.spi;

import io.fenceline.time.Moment;
import java.time.Duration;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** A server's answer to a claim. */
public sealed interface ClaimAnswer {

  /**
   * Passes this answer to the handler of the claim.
   *
   * @param sent a moment before the request was sent, from which a lease counts
   */
  default void tell(ClaimHandler handler, Moment sent) {
    if (this instanceof Granted granted) {
      handler.granted(new Grant(granted.number(), new Validity(sent, granted.length())));
    } else if (this instanceof Refused refused) {
      handler.refused(refused.obstacle());
    } else if (this instanceof Waiting waiting) {
      handler.waiting(waiting.obstacle());
    }
  }

  /**
   * The claim is granted.
   *
   * @param number grant number
   * @param length how long the grant may be believed
   */
  record Granted(long number, Duration length) implements ClaimAnswer {}

  /**
   * The claim waits in the queue.
   *
   * @param obstacle who is in the way
   * @param lastNumber the last number that the server had granted when it answered, for this name
   *     or for any; a message with a number up to this one is about an older grant
   * @param askAgain after what time the server wants to be asked again; null for the store's usual
   *     interval
   */
  record Waiting(Obstacle obstacle, OptionalLong lastNumber, @Nullable Duration askAgain)
      implements ClaimAnswer {

    /** Asks again after the store's usual interval. */
    public Waiting(Obstacle obstacle, OptionalLong lastNumber) {
      this(obstacle, lastNumber, null);
    }

    /** Without a number: messages then only make the client ask again. */
    public Waiting(Obstacle obstacle) {
      this(obstacle, OptionalLong.empty());
    }
  }

  /**
   * The claim is neither granted nor queued.
   *
   * @param obstacle who is in the way
   */
  record Refused(Obstacle obstacle) implements ClaimAnswer {}
}
