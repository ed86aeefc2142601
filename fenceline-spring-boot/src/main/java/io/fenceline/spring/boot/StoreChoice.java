package io.fenceline.spring.boot;

import io.fenceline.FencelineBuilder;
import io.fenceline.Store;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;

/**
 * Where the locks are: by URI, or by what the application is connected to. Never in memory unasked.
 */
final class StoreChoice {
  private final @Nullable String wanted;
  private final List<StoreSource> sources;

  StoreChoice(@Nullable String wanted, List<StoreSource> sources) {
    this.wanted = StringUtils.hasText(wanted) ? wanted.strip() : null;
    this.sources = sources;
  }

  /**
   * Sets the store.
   *
   * @throws NoStoreException if there is none
   */
  void applyTo(FencelineBuilder builder) {
    if (wanted != null && wanted.contains(":")) {
      builder.store(wanted);
      return;
    }
    List<String> reasons = new ArrayList<>();
    for (StoreSource source : sources) {
      if (wanted == null || wanted.equals(source.name())) {
        StoreSource.Found found = source.find();
        Store store = found.store();
        if (store != null) {
          builder.store(store);
          return;
        }
        reasons.add(found.why());
      }
    }
    if (reasons.isEmpty()) {
      reasons.add(
          wanted == null
              ? "the application has neither a DataSource nor a connection to Redis"
              : "fenceline.store=%s is neither a URI nor something that the application has (%s)"
                  .formatted(wanted, sources.stream().map(StoreSource::name).toList()));
    }
    throw new NoStoreException("There is no store for locks", reasons);
  }
}
