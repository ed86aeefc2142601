package io.fenceline.memory;

import io.fenceline.spi.LockStore;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreFactory;
import io.fenceline.spi.StoreKind;
import io.fenceline.spi.StoreProvider;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Finds spaces by {@code memory:} and {@code memory:some-name}, one of each name a process. */
public final class MemoryProvider implements StoreProvider {
  private static final ConcurrentHashMap<String, MemorySpace> SPACES = new ConcurrentHashMap<>();

  /** For {@link java.util.ServiceLoader}. */
  public MemoryProvider() {}

  @Override
  public Set<String> schemes() {
    return Set.of("memory");
  }

  @Override
  public List<StoreKind> kinds() {
    return List.of(
        new StoreKind(
            List.of("memory:", "memory:some-name"),
            StoreKind.Consistency.SINGLE,
            "microseconds, within one process",
            MemoryStore.GUARANTEES));
  }

  @Override
  public StoreFactory at(StoreAddress address) {
    if (!address.hosts().isEmpty() || !address.parameters().isEmpty()) {
      throw address.invalid("use memory: or memory:some-name");
    }
    return context -> {
      MemorySpace space =
          SPACES.computeIfAbsent(address.path(), name -> MemorySpace.named(name, context.time()));
      LockStore opened = space.factory().open(context);
      return opened;
    };
  }
}
