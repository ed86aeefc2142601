package io.fenceline.redis.redlock;

import io.fenceline.redis.connection.Topology.Purpose;
import io.fenceline.redis.layout.Answers;
import io.fenceline.redis.layout.Layout;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.ScoredValue;
import io.lettuce.core.ScoredValueScanCursor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The names that a node knows to be in use: its index, read page by page. */
final class NameIndex {
  private static final int PAGE = 1000;

  private NameIndex() {}

  static CompletableFuture<List<String>> names(Node node, String prefix) {
    List<String> found = new ArrayList<>();
    return pages(node, prefix, ScanCursor.INITIAL, found).thenApply(done -> found);
  }

  private static CompletableFuture<Void> pages(
      Node node, String prefix, ScanCursor from, List<String> found) {
    ScanArgs args = ScanArgs.Builder.limit(PAGE).match(Layout.startPattern(prefix));
    CompletableFuture<ScoredValueScanCursor<byte[]>> page =
        node.server()
            .connection(Purpose.CLAIMS)
            .run("ZSCAN", commands -> commands.zscan(RedlockLayout.INDEX, from, args));
    return page.thenCompose(
        cursor -> {
          for (ScoredValue<byte[]> value : cursor.getValues()) {
            String name = Answers.text(value.getValue());
            if (name.startsWith(prefix)) {
              found.add(name);
            }
          }
          return cursor.isFinished()
              ? CompletableFuture.completedFuture(null)
              : pages(node, prefix, cursor, found);
        });
  }
}
