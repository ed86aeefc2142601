package io.fenceline.redis.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.spi.Owner;
import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** For how long a client knows which permits its holds have. */
class OwnPermitsTest {
  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final Duration LONGER = Duration.ofSeconds(60);
  private static final PermitSlots SLOTS = new PermitSlots(List.of(3));

  private final ManualTime time = new ManualTime();
  private final OwnPermits holds = new OwnPermits(time);
  private final Random owners = new Random();
  private final Owner owner = Owner.draw(owners);

  /** A hold of anyone: what is over is forgotten then. */
  private void sweep() {
    holds.won(Owner.draw(owners), SLOTS, LEASE);
  }

  private void extend() {
    holds.renewing(owner, LONGER);
    holds.renewed(owner, LONGER);
  }

  @Test
  void permitsOfAHoldThatWasExtended_areKnown_alsoIfAnEarlierClaimHasStrayed() {
    holds.won(owner, SLOTS, LEASE);
    extend();
    holds.strayed(owner, LEASE);
    time.advance(LEASE.multipliedBy(2));

    holds.renewing(owner, LONGER);

    assertThat(holds.slots(owner)).isEqualTo(SLOTS);
  }

  @Test
  void claimThatNotAllHaveAnswered_isNotSentAgainOnceTheHoldEnds() {
    AtomicInteger stopped = new AtomicInteger();
    holds.unanswered(owner, LEASE, stopped::incrementAndGet);

    assertThat(holds.end(owner)).as("whether nodes have to turn it away").isFalse();
    assertThat(holds.end(owner)).isFalse();

    assertThat(stopped).hasValue(1);
  }

  @Test
  void permitsOfAHoldThatIsBeingRenewed_areKnown() {
    holds.won(owner, SLOTS, LEASE);
    holds.renewing(owner, LEASE);
    time.advance(LEASE.multipliedBy(2));
    sweep();

    assertThat(holds.slots(owner)).isEqualTo(SLOTS);
  }

  /** The lease counts from the second of two rounds, which may be sent long after the first. */
  @Test
  void permitsOfAHoldWhoseRenewalTookLong_areKnownForALeaseFromTheAnswer() {
    holds.won(owner, SLOTS, LEASE);
    holds.renewing(owner, LONGER);
    time.advance(LEASE.dividedBy(2));
    holds.renewed(owner, LONGER);
    time.advance(LONGER.minusSeconds(1));
    sweep();

    assertThat(holds.slots(owner)).isEqualTo(SLOTS);
  }

  @Test
  void permitsOfAHoldThatEndedWithoutAWord_areForgottenAfterItsTerm() {
    holds.won(owner, SLOTS, LEASE);
    extend();
    time.advance(LONGER.plusSeconds(1));
    sweep();

    assertThat(holds.slots(owner)).isEqualTo(PermitSlots.NONE);
  }

  @Test
  void permitsOfAHoldThatEnds_areKnownUntilThatIsAnswered() {
    holds.won(owner, SLOTS, LEASE);
    assertThat(holds.end(owner)).isFalse();
    assertThat(holds.slots(owner)).isEqualTo(SLOTS);
    assertThat(holds.giving(owner, LEASE)).isFalse();

    holds.ended(owner);

    assertThat(holds.slots(owner)).isEqualTo(PermitSlots.NONE);
  }
}
