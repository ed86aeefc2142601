package io.fenceline.spring.boot;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.util.ClassUtils;

/**
 * What a native image has to keep: the statements, scripts, providers and proxies of the stores.
 */
final class FencelineRuntimeHints implements RuntimeHintsRegistrar {

  @Override
  public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
    hints.resources().registerPattern("io/fenceline/**/*.sql");
    hints.resources().registerPattern("io/fenceline/**/*.lua");
    hints.resources().registerPattern("META-INF/services/io.fenceline.spi.StoreProvider");
    // Drivers make it by its name.
    hints
        .reflection()
        .registerTypeIfPresent(
            classLoader,
            "io.fenceline.jdbc.connection.BoundedSockets",
            hint -> hint.withMembers(MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS));
    // Locks in the application's Redis stand between its resources and the driver.
    String resources = "io.lettuce.core.resource.ClientResources";
    if (ClassUtils.isPresent(resources, classLoader)) {
      hints.proxies().registerJdkProxy(TypeReference.of(resources));
      hints
          .reflection()
          .registerType(
              TypeReference.of(resources),
              hint -> hint.withMembers(MemberCategory.INVOKE_PUBLIC_METHODS));
    }
    for (String provider :
        new String[] {
          "io.fenceline.memory.MemoryProvider",
          "io.fenceline.jdbc.JdbcProvider",
          "io.fenceline.redis.RedisProvider",
          "io.fenceline.zookeeper.ZooKeeperProvider",
          "io.fenceline.etcd.EtcdProvider"
        }) {
      hints
          .reflection()
          .registerType(
              TypeReference.of(provider),
              hint -> hint.withMembers(MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS));
    }
  }
}
