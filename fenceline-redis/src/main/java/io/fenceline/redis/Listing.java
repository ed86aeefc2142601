package io.fenceline.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

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
final class Listing {
  private static final int AT_ONCE = 200;
  private static final Comparator<String> BYTE_ORDER =
      (a, b) -> Arrays.compareUnsigned(a.getBytes(UTF_8), b.getBytes(UTF_8));

  private final Topology topology;
  private final Function<String, CompletableFuture<NameState>> inspect;

  Listing(Topology topology, Function<String, CompletableFuture<NameState>> inspect) {
    this.topology = topology;
    this.inspect = inspect;
  }

  CompletableFuture<List<NameState>> list(String prefix, int limit) {
    return topology
        .scan(Layout.headPattern(prefix))
        .thenCompose(
            heads -> {
              List<String> names =
                  heads.stream()
                      .map(Layout::nameOfHead)
                      .filter(name -> !name.isEmpty() && name.startsWith(prefix))
                      .distinct()
                      .sorted(BYTE_ORDER)
                      .toList();
              return states(names, 0, limit, new ArrayList<>());
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
