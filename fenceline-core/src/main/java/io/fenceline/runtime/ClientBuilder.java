package io.fenceline.runtime;

import com.google.errorprone.annotations.MustBeClosed;
import io.fenceline.Fenceline;
import io.fenceline.FencelineBuilder;
import io.fenceline.LockOptions;
import io.fenceline.Store;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.event.LockListener;
import io.fenceline.metrics.ObserverFactory;
import io.fenceline.settings.Defaults;
import io.fenceline.settings.Durations;
import io.fenceline.settings.HandOff;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.settings.Limits;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreFactory;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Collects and checks the settings of a client. */
public final class ClientBuilder implements FencelineBuilder {
  private @Nullable StoreFactory store;
  private @Nullable String label;
  private @Nullable Executor executor;
  private @Nullable Time time;
  private @Nullable RandomGenerator random;
  private LockOptions options = LockOptions.defaults();
  private Duration connectTimeout = Defaults.CONNECT_TIMEOUT;
  private Duration operationTimeout = Defaults.OPERATION_TIMEOUT;
  private Limits limits = Defaults.LIMITS;
  private HandOff handOff = Defaults.HAND_OFF;
  private long tokenBase;
  private final Set<Guarantee> required = EnumSet.noneOf(Guarantee.class);
  private final List<LockListener> listeners = new ArrayList<>();
  private final List<ObserverFactory> observers = new ArrayList<>();

  @Override
  public FencelineBuilder store(String uri) {
    return store(Stores.at(StoreAddress.parse(Objects.requireNonNull(uri, "uri"))));
  }

  @Override
  public FencelineBuilder store(Store store) {
    if (!(Objects.requireNonNull(store, "store") instanceof StoreFactory factory)) {
      throw new InvalidSettingException(
          "store",
          store.getClass().getName(),
          "a Store comes from one of Fenceline's store modules, such as RedisStores or JdbcStores");
    }
    this.store = factory;
    return this;
  }

  @Override
  public FencelineBuilder label(String label) {
    Objects.requireNonNull(label, "label");
    if (label.isBlank()
        || label.length() > 100
        || label.chars().anyMatch(Character::isISOControl)) {
      throw new InvalidSettingException(
          "label",
          label.length() + " characters",
          "it must have 1 to 100 characters, not be blank, and have no control characters");
    }
    this.label = label;
    return this;
  }

  @Override
  public FencelineBuilder defaultOptions(LockOptions options) {
    this.options = Objects.requireNonNull(options, "options");
    return this;
  }

  @Override
  public FencelineBuilder connectTimeout(Duration timeout) {
    this.connectTimeout = Durations.checkPositive("connectTimeout", timeout);
    return this;
  }

  @Override
  public FencelineBuilder operationTimeout(Duration timeout) {
    this.operationTimeout = Durations.checkPositive("operationTimeout", timeout);
    return this;
  }

  @Override
  public FencelineBuilder require(Guarantee... guarantees) {
    required.addAll(List.of(guarantees));
    return this;
  }

  @Override
  public FencelineBuilder limits(Limits limits) {
    this.limits = Objects.requireNonNull(limits, "limits");
    return this;
  }

  @Override
  public FencelineBuilder handOff(HandOff handOff) {
    this.handOff = Objects.requireNonNull(handOff, "handOff");
    return this;
  }

  @Override
  public FencelineBuilder tokenBase(long base) {
    if (base < 0 || base > ClientSettings.MAX_NUMBER) {
      throw new InvalidSettingException(
          "tokenBase", base, "it must be from 0 to " + ClientSettings.MAX_NUMBER);
    }
    this.tokenBase = base;
    return this;
  }

  @Override
  public FencelineBuilder listener(LockListener listener) {
    listeners.add(Objects.requireNonNull(listener, "listener"));
    return this;
  }

  @Override
  public FencelineBuilder observer(ObserverFactory observer) {
    observers.add(Objects.requireNonNull(observer, "observer"));
    return this;
  }

  @Override
  public FencelineBuilder executor(Executor executor) {
    this.executor = Objects.requireNonNull(executor, "executor");
    return this;
  }

  @Override
  public FencelineBuilder time(Time time) {
    this.time = Objects.requireNonNull(time, "time");
    return this;
  }

  @Override
  public FencelineBuilder random(RandomGenerator random) {
    this.random = Objects.requireNonNull(random, "random");
    return this;
  }

  @Override
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
            List.copyOf(observers),
            executor,
            time,
            random));
  }
}
