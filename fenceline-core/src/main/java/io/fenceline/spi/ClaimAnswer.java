package io.fenceline.spi;

import io.fenceline.time.Moment;
import java.time.Duration;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** What a server answers a claim with. */
public sealed interface ClaimAnswer {

  /**
   * Passes this answer to the handler of the claim.
   *
   * @param sent before the request was sent: what may be believed counts from then
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
   * It has the name.
   *
   * @param number grant number
   * @param length how long it may be believed
   */
  record Granted(long number, Duration length) implements ClaimAnswer {}

  /**
   * It waits in the queue.
   *
   * @param obstacle who is in the way
   * @param lastNumber the last number that the server had granted when it answered, of the name or
   *     of more; by it a message about an older grant is told from one about a new grant
   * @param askAgain when the server wants to be asked again; null for the store's usual interval
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
   * It is not queued, and has nothing.
   *
   * @param obstacle who is in the way
   */
  record Refused(Obstacle obstacle) implements ClaimAnswer {}
}
