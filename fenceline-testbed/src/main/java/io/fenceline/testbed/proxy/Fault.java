package io.fenceline.testbed.proxy;

import io.fenceline.testkit.harness.SlowNetwork;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Something that the proxy does wrong until it is lifted.
 *
 * <p>{@link #timesApplied} proves that it struck: a test that passes because its fault never
 * happened has tested nothing.
 */
public final class Fault implements SlowNetwork.KeptBack, AutoCloseable {

  enum Effect {
    DELAY,
    STALL,
    BLACK_HOLE,
    HOLD_REQUEST,
    CUT_REQUEST,
    CUT_BEFORE_REPLY,
    CLOSE_BEFORE_REPLY,
    DROP_REPLY,
    HOLD_REPLY,
    DROP_PUSH,
    REFUSE
  }

  private final FaultProxy proxy;
  private final Effect effect;
  private final Direction direction;
  private final Duration delay;
  private final @Nullable Trigger trigger;
  private final Predicate<? super InetSocketAddress> clients;
  private final AtomicLong applied = new AtomicLong();
  private volatile boolean lifted;

  private Fault(
      FaultProxy proxy,
      Effect effect,
      Direction direction,
      Duration delay,
      @Nullable Trigger trigger,
      Predicate<? super InetSocketAddress> clients) {
    this.proxy = proxy;
    this.effect = effect;
    this.direction = direction;
    this.delay = delay;
    this.trigger = trigger;
    this.clients = clients;
  }

  static Fault onTheWay(FaultProxy proxy, Effect effect, Direction direction, Duration delay) {
    return new Fault(proxy, effect, direction, delay, null, client -> true);
  }

  static Fault onTheWayOf(
      FaultProxy proxy,
      Effect effect,
      Direction direction,
      Predicate<? super InetSocketAddress> clients) {
    return new Fault(proxy, effect, direction, Duration.ZERO, null, clients);
  }

  static Fault onTrigger(FaultProxy proxy, Effect effect, Trigger trigger) {
    return new Fault(proxy, effect, Direction.TO_CLIENT, Duration.ZERO, trigger, client -> true);
  }

  /**
   * How often it struck so far: messages delayed, stalled or swallowed, replies dropped or held,
   * connections cut or refused.
   */
  @Override
  public long timesApplied() {
    return applied.get();
  }

  /**
   * Ends the fault. What was stalled or held goes on; a connection that bytes were lost from is
   * closed, since nothing sensible could follow on it.
   */
  @Override
  public void lift() {
    proxy.lift(this);
  }

  /** As {@link #lift}. */
  @Override
  public void close() {
    lift();
  }

  Effect effect() {
    return effect;
  }

  boolean concerns(Direction way) {
    return direction.covers(way);
  }

  boolean isOf(InetSocketAddress client) {
    return clients.test(client);
  }

  Duration delay() {
    return delay;
  }

  boolean strikes(Frame frame) {
    return trigger != null && trigger.strikes(frame);
  }

  boolean isLifted() {
    return lifted;
  }

  void markLifted() {
    lifted = true;
  }

  void apply() {
    applied.incrementAndGet();
  }

  @Override
  public String toString() {
    return effect + " " + direction + " (timesApplied=" + applied + ")";
  }
}
