package io.fenceline.micrometer;

import io.fenceline.Fenceline;
import io.fenceline.fence.FenceEvent;
import io.fenceline.fence.FenceListener;
import io.fenceline.metrics.LockObserver;
import io.fenceline.metrics.ObserverFactory;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.config.MeterFilter;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Meters of the locks of one or more clients, in one registry.
 *
 * <pre>{@code
 * FencelineMetrics.bind(fenceline, registry);
 * }</pre>
 *
 * <p>Or, with groups of your own, and before the client connects:
 *
 * <pre>{@code
 * FencelineMetrics metrics = FencelineMetrics.of(registry, LockGroups.of("orders:*", "ledger"));
 * Fenceline fenceline = Fenceline.builder().store(uri).observer(metrics).connect();
 * }</pre>
 *
 * <p>Every meter has the tags {@code store} (the kind) and, but for {@code fenceline.store.up},
 * {@code lock.group} ({@link LockGroups}); no meter has the name of a lock. What is counted is
 * counted where it happens, on the thread on which it happens, so figures are exact under any load.
 * Thread-safe.
 */
public final class FencelineMetrics implements ObserverFactory {
  /** Of registries that were bound without naming groups; their meters keep the values alive. */
  private static final Map<MeterRegistry, WeakReference<FencelineMetrics>> SHARED =
      new WeakHashMap<>();

  private final MeterRegistry registry;
  private final LockGroups groups;
  private final Map<String, KindMeters> kinds = new ConcurrentHashMap<>();
  private final Map<String, Map<String, Counter>> refused = new ConcurrentHashMap<>();

  private FencelineMetrics(MeterRegistry registry, LockGroups groups) {
    this.registry = Objects.requireNonNull(registry, "registry");
    this.groups = Objects.requireNonNull(groups, "groups");
  }

  /**
   * Meters the locks of a client, from the next acquire on, by groups that follow from their names.
   *
   * @return the meters of this registry: the same for each client that is bound to it like this
   */
  public static FencelineMetrics bind(Fenceline fenceline, MeterRegistry registry) {
    FencelineMetrics metrics = shared(registry);
    fenceline.observe(metrics);
    return metrics;
  }

  private static FencelineMetrics shared(MeterRegistry registry) {
    synchronized (SHARED) {
      WeakReference<FencelineMetrics> reference = SHARED.get(registry);
      FencelineMetrics known = reference == null ? null : reference.get();
      if (known == null) {
        known = new FencelineMetrics(registry, LockGroups.of());
        SHARED.put(registry, new WeakReference<>(known));
      }
      return known;
    }
  }

  /**
   * Meters in a registry, for {@link io.fenceline.FencelineBuilder#observer}. Make one for each
   * registry, and give it to all clients that are to be counted together.
   */
  public static FencelineMetrics of(MeterRegistry registry, LockGroups groups) {
    return new FencelineMetrics(registry, groups);
  }

  /** As {@link #of(MeterRegistry, LockGroups)}, by groups that follow from the names of locks. */
  public static FencelineMetrics of(MeterRegistry registry) {
    return of(registry, LockGroups.of());
  }

  /**
   * Offers service-level buckets for the timers here, which histogram quantiles and the alert
   * HighWaitTime need: {@code registry.config().meterFilter(FencelineMetrics.buckets())}, before
   * anything is bound. A registry that has chosen buckets of its own keeps them.
   *
   * <p>It also keeps those meters out that a registry makes of {@link FencelineObservations}, which
   * have the same names and would count twice.
   */
  public static MeterFilter buckets() {
    return new Buckets();
  }

  /** Called by a client that this is given to. */
  @Override
  public LockObserver observe(String storeKind) {
    return kinds.computeIfAbsent(storeKind, kind -> new KindMeters(this, registry, kind)).add();
  }

  /**
   * Counts what fences refuse, as {@code fenceline.fence.refused}; give it to each fence as its
   * listener. The tags are the kind of the fence, and the group of the resource's name.
   */
  public FenceListener fences() {
    return this::count;
  }

  private void count(FenceEvent event) {
    String group = groups.groupOf(event.resource());
    Counter counter =
        refused
            .computeIfAbsent(event.fence(), fence -> new ConcurrentHashMap<>())
            .computeIfAbsent(group, named -> refusedCounter(event.fence(), named));
    if (event instanceof FenceEvent.Refused) {
      counter.increment();
    }
  }

  private Counter refusedCounter(String fence, String group) {
    return Counter.builder("fenceline.fence.refused")
        .description("Writes that a fence refused because their token was stale")
        .baseUnit("writes")
        .tags(Tags.of("store", fence, "lock.group", group))
        .register(registry);
  }

  LockGroups groups() {
    return groups;
  }
}
