package io.fenceline.redis.diagnostics;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fenceline.redis.connection.Topology;
import io.fenceline.redis.layout.Layout;
import io.fenceline.spi.NameState;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * Lists names: walks over all keys of all servers with SCAN, then asks for each name that fits.
 *
 * <p>An index of live names would make this cheap and each acquisition dearer, and lists are for
 * people.
 */
public final class Listing {
  private static final int AT_ONCE = 200;
  private static final Comparator<String> BYTE_ORDER =
      (a, b) -> Arrays.compareUnsigned(a.getBytes(UTF_8), b.getBytes(UTF_8));

  private final Function<String, CompletableFuture<List<String>>> names;
  private final Function<String, CompletableFuture<NameState>> inspect;

  /**
   * Lists by what servers know.
   *
   * @param names what may start with a prefix, in no order, some of it twice
   */
  public Listing(
      Function<String, CompletableFuture<List<String>>> names,
      Function<String, CompletableFuture<NameState>> inspect) {
    this.names = names;
    this.inspect = inspect;
  }

  /** The names of all heads, found by walking over all keys. */
  public static CompletableFuture<List<String>> heads(Topology topology, String prefix) {
    return topology
        .scan(Layout.headPattern(prefix))
        .thenApply(heads -> heads.stream().map(Layout::nameOfHead).toList());
  }

  public CompletableFuture<List<NameState>> list(String prefix, int limit) {
    return names
        .apply(prefix)
        .thenCompose(
            found -> {
              List<String> fitting =
                  found.stream()
                      .filter(name -> !name.isEmpty() && name.startsWith(prefix))
                      .distinct()
                      .sorted(BYTE_ORDER)
                      .toList();
              return states(fitting, 0, limit, new ArrayList<>());
            });
  }

  private CompletableFuture<List<NameState>> states(
      List<String> names, int from, int limit, List<NameState> found) {
    if (from >= names.size() || found.size() >= limit) {
      return CompletableFuture.completedFuture(
          List.copyOf(found.subList(0, Math.min(limit, found.size()))));
    }
    int to = Math.min(names.size(), from + Math.min(AT_ONCE, limit));
    List<CompletableFuture<NameState>> asked =
        names.subList(from, to).stream().map(inspect).toList();
    return CompletableFuture.allOf(asked.toArray(CompletableFuture<?>[]::new))
        .thenCompose(
            done -> {
              for (CompletableFuture<NameState> answer : asked) {
                NameState state = answer.join();
                if (!state.holders().isEmpty() || !state.waiters().isEmpty()) {
                  found.add(state);
                }
              }
              return states(names, to, limit, found);
            });
  }
}
