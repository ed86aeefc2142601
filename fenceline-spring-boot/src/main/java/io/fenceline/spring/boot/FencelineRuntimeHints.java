package io.fenceline.spring.boot;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;

/** What a native image has to keep: the statements and scripts of the stores. */
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
