package io.fenceline.micrometer;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The meters of one kind of store, and the clients of it. */
final class KindMeters {
  private static final int CACHED = 1024;

  /** A name that was looked up; immutable, so that a reader sees all of it or nothing. */
  private record Known(String name, Meters meters) {}

  private final FencelineMetrics metrics;
  private final MeterRegistry registry;
  private final Tags tags;
  private final Map<String, Meters> groups = new ConcurrentHashMap<>();
  private final Set<MeterObserver> clients = ConcurrentHashMap.newKeySet();
  private @Nullable Gauge up;

  /**
   * The names of late, each at the place of its hash: finding a group costs matching and a string,
   * which every cycle would pay twice. A newer name takes the place of an older one, so a million
   * names take no more room than this.
   */
  private final @Nullable Known[] known = new Known[CACHED];

  KindMeters(FencelineMetrics metrics, MeterRegistry registry, String storeKind) {
    this.metrics = metrics;
    this.registry = registry;
    this.tags = Tags.of("store", storeKind);
  }

  /** The meters of the group of a name. */
  Meters of(String name) {
    int hash = name.hashCode();
    int place = (hash ^ hash >>> 16) & (CACHED - 1);
    Known there = known[place];
    if (there != null && there.name.equals(name)) {
      return there.meters;
    }
    Meters found =
        groups.computeIfAbsent(
            metrics.groups().groupOf(name),
            group -> new Meters(metrics, registry, tags.and("lock.group", group)));
    known[place] = new Known(name, found);
    return found;
  }

  MeterObserver add() {
    MeterObserver client = new MeterObserver(this);
    synchronized (this) {
      clients.add(client);
      if (up == null) {
        up =
            Gauge.builder("fenceline.store.up", this, KindMeters::up)
                .description("1 if the store answered the last request of every client, 0 if not")
                .tags(tags)
                .strongReference(true)
                .register(registry);
      }
    }
    return client;
  }

  /** A client is closed; without any there is nothing to say of the store. */
  synchronized void remove(MeterObserver client) {
    clients.remove(client);
    if (clients.isEmpty() && up != null) {
      registry.remove(up);
      up = null;
    }
  }

  private double up() {
    return clients.stream().anyMatch(MeterObserver::isDown) ? 0 : 1;
  }
}
