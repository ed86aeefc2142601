package io.fenceline;

import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** A store that can't promise what was required of it. */
public final class MissingGuaranteeException extends FencelineException {
  private static final long serialVersionUID = 1L;

  private final String store;
  private final TreeSet<Guarantee> missing;

  /** Says what is missing. */
  public MissingGuaranteeException(String store, Set<Guarantee> missing) {
    super(
        "Store '%s' does not guarantee %s. Choose another store or drop the requirement."
            .formatted(
                store,
                new TreeSet<>(missing)
                    .stream()
                        .map(g -> g + " (" + g.meaning() + ")")
                        .collect(Collectors.joining(", "))),
        null);
    this.store = store;
    this.missing = new TreeSet<>(missing);
  }

  /** Which kind of store. */
  public String store() {
    return store;
  }

  /** What it does not give. */
  public Set<Guarantee> missing() {
    return Set.copyOf(missing);
  }
}
