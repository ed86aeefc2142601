package io.fenceline.runtime;

import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreFactory;
import io.fenceline.spi.StoreProvider;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;

/** Finds the store for an address among the providers on the path. */
final class Stores {
  private static final Map<String, String> ARTIFACTS =
      Map.ofEntries(
          Map.entry("sqlite", "fenceline-jdbc"),
          Map.entry("jdbc:sqlite", "fenceline-jdbc"),
          Map.entry("jdbc:postgresql", "fenceline-jdbc"),
          Map.entry("jdbc:mariadb", "fenceline-jdbc"),
          Map.entry("jdbc:mysql", "fenceline-jdbc"),
          Map.entry("redis", "fenceline-redis"),
          Map.entry("rediss", "fenceline-redis"),
          Map.entry("redis-sentinel", "fenceline-redis"),
          Map.entry("redis-cluster", "fenceline-redis"),
          Map.entry("valkey", "fenceline-redis"),
          Map.entry("valkeys", "fenceline-redis"),
          Map.entry("valkey-sentinel", "fenceline-redis"),
          Map.entry("valkey-cluster", "fenceline-redis"),
          Map.entry("redlock", "fenceline-redis"),
          Map.entry("zookeeper", "fenceline-zookeeper"),
          Map.entry("etcd", "fenceline-etcd"));

  private Stores() {}

  /**
   * The factory for an address.
   *
   * @throws InvalidSettingException if no provider knows its scheme
   */
  static StoreFactory at(StoreAddress address) {
    TreeSet<String> known = new TreeSet<>();
    for (StoreProvider provider : ServiceLoader.load(StoreProvider.class, loader())) {
      if (provider.schemes().contains(address.scheme())) {
        return provider.at(address);
      }
      known.addAll(provider.schemes());
    }
    String artifact = ARTIFACTS.get(address.scheme());
    String advice =
        artifact == null
            ? "the schemes on the class path are " + known + othersThan(known)
            : "add the artifact io.fenceline:" + artifact + "; on the class path are " + known;
    throw new InvalidSettingException("store scheme", address.scheme(), advice);
  }

  private static String othersThan(Set<String> known) {
    Set<String> others = new TreeSet<>(ARTIFACTS.keySet());
    others.removeAll(known);
    return others.isEmpty() ? "" : ", others are " + others;
  }

  private static ClassLoader loader() {
    ClassLoader context = Thread.currentThread().getContextClassLoader();
    return context == null ? Stores.class.getClassLoader() : context;
  }
}
