package io.fenceline.testkit.sim;

import io.fenceline.LockOptions;
import io.fenceline.settings.WaitStrategy;
import java.time.Duration;

/** The options that locks of the simulation have. */
enum Shape {
  SHORT(auto(600)),
  MEDIUM(auto(1_500)),
  LONG(auto(20_000)),
  FIXED(LockOptions.defaults().fixedLease(ms(700))),
  FIXED_LONG(LockOptions.defaults().fixedLease(ms(12_000))),
  DELAYED(auto(800).lockDelay(ms(400))),
  FIXED_DELAYED(LockOptions.defaults().fixedLease(ms(500)).lockDelay(ms(600))),
  KEPT(auto(900).keepAtLeast(ms(500))),
  MAX_HOLD(auto(600).maxHold(ms(400))),
  RETRYING(auto(1_000).waiting(WaitStrategy.retry(6, ms(60), ms(40)))),
  INTERRUPTED(LockOptions.defaults().fixedLease(ms(500)).interruptOnLoss()),
  RETRYING_INTERRUPTED(
      LockOptions.defaults()
          .fixedLease(ms(500))
          .waiting(WaitStrategy.retry(6, ms(60), ms(40)))
          .interruptOnLoss());

  /** The longest that any of them keeps a name closed. */
  static final Duration LONGEST = ms(20_000);

  @SuppressWarnings("ImmutableEnumChecker") // Options never change; they only can't say so.
  private final LockOptions options;

  Shape(LockOptions options) {
    this.options = options;
  }

  LockOptions options() {
    return options;
  }

  private static LockOptions auto(long lease) {
    return LockOptions.defaults().lease(ms(lease));
  }

  private static Duration ms(long millis) {
    return Duration.ofMillis(millis);
  }
}
