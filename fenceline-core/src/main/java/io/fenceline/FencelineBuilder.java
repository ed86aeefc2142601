package io.fenceline;

import com.google.errorprone.annotations.MustBeClosed;
import io.fenceline.event.LockListener;
import io.fenceline.runtime.Client;
import io.fenceline.runtime.ClientSettings;
import io.fenceline.runtime.Stores;
import io.fenceline.spi.Durations;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreFactory;
import io.fenceline.spi.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a client.
 *
 * <pre>{@code
 * Fenceline fenceline =
 *     Fenceline.builder()
 *         .store("memory:")
 *         .label("billing-1")
 *         .require(Guarantee.FAIR)
 *         .connect();
 * }</pre>
 */
public final class FencelineBuilder {
  private @Nullable StoreFactory store;
  private @Nullable String label;
  private @Nullable Time time;
  private @Nullable RandomGenerator random;
  private LockOptions options = LockOptions.defaults();
  private Duration connectTimeout = Duration.ofSeconds(5);
  private Duration operationTimeout = Duration.ofSeconds(3);
  private Limits limits = Limits.DEFAULTS;
  private HandOff handOff = HandOff.DEFAULTS;
  private long tokenBase;
  private final Set<Guarantee> required = EnumSet.noneOf(Guarantee.class);
  private final List<LockListener> listeners = new ArrayList<>();

  FencelineBuilder() {}

  /** Where the locks are, by URI. */
  public FencelineBuilder store(String uri) {
    return store(Stores.at(StoreAddress.parse(Objects.requireNonNull(uri, "uri"))));
  }

  /** Where the locks are, by a driver that you already have; the store's module makes it. */
  public FencelineBuilder store(StoreFactory store) {
    this.store = Objects.requireNonNull(store, "store");
    return this;
  }

  /** What this client calls itself in inspection and errors; host and process id by default. */
  public FencelineBuilder label(String label) {
    Objects.requireNonNull(label, "label");
    if (label.isBlank()
        || label.length() > 100
        || label.chars().anyMatch(Character::isISOControl)) {
      throw new InvalidSettingException(
          "label", label.length() + " characters", "it must have 1 to 100, none of them controls");
    }
    this.label = label;
    return this;
  }

  /** What locks have unless they are given options of their own. */
  public FencelineBuilder defaultOptions(LockOptions options) {
    this.options = Objects.requireNonNull(options, "options");
    return this;
  }

  /** How long connecting may take; 5 seconds by default. */
  public FencelineBuilder connectTimeout(Duration timeout) {
    this.connectTimeout = Durations.checkPositive("connectTimeout", timeout);
    return this;
  }

  /** How long one request to the store may go unanswered; 3 seconds by default. */
  public FencelineBuilder operationTimeout(Duration timeout) {
    this.operationTimeout = Durations.checkPositive("operationTimeout", timeout);
    return this;
  }

  /** Fails to connect unless the store gives all of these. */
  public FencelineBuilder require(Guarantee... guarantees) {
    required.addAll(List.of(guarantees));
    return this;
  }

  /** How much of everything this client may have. */
  public FencelineBuilder limits(Limits limits) {
    this.limits = Objects.requireNonNull(limits, "limits");
    return this;
  }

  /** How far a lock may pass within this process before others get their turn. */
  public FencelineBuilder handOff(HandOff handOff) {
    this.handOff = Objects.requireNonNull(handOff, "handOff");
    return this;
  }

  /**
   * Is added to every grant number, for a ZooKeeper or etcd that was wiped or restored and counts
   * anew: take the largest token that a fence has accepted, shifted right by 8, plus one. All
   * clients of a name must agree on it.
   */
  public FencelineBuilder tokenBase(long base) {
    if (base < 0 || base > ClientSettings.MAX_NUMBER) {
      throw new InvalidSettingException(
          "tokenBase", base, "it must be from 0 to " + ClientSettings.MAX_NUMBER);
    }
    this.tokenBase = base;
    return this;
  }

  /** Hears everything that happens to the locks of this client. */
  public FencelineBuilder listener(LockListener listener) {
    listeners.add(Objects.requireNonNull(listener, "listener"));
    return this;
  }

  /** Clocks, timers and threads other than the machine's own; for tests. */
  public FencelineBuilder time(Time time) {
    this.time = Objects.requireNonNull(time, "time");
    return this;
  }

  /** Randomness other than a {@link java.security.SecureRandom}; for tests. */
  public FencelineBuilder random(RandomGenerator random) {
    this.random = Objects.requireNonNull(random, "random");
    return this;
  }

  /**
   * Connects.
   *
   * @throws StoreUnavailableException if the store can't be reached within the connect timeout
   * @throws MissingGuaranteeException if it does not give what is required
   */
  @MustBeClosed
  public Fenceline connect() {
    if (store == null) {
      throw new InvalidSettingException("store", "none", "name one, such as store(\"memory:\")");
    }
    return Client.connect(
        store,
        new ClientSettings(
            label,
            options,
            connectTimeout,
            operationTimeout,
            limits,
            handOff,
            tokenBase,
            Set.copyOf(required),
            List.copyOf(listeners),
            time,
            random));
  }
}
