package io.fenceline.zookeeper.claim;

import io.fenceline.zookeeper.layout.NodeData;
import io.fenceline.zookeeper.layout.QueueNode;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the nodes of other clients say of them, by name: clients that take turns meet the same ones
 * again and again, and need not read it each time. It is shown to people, and decides nothing.
 */
public final class KnownClients {
  private static final int MOST = 1_000;

  private record Key(String folder, String client) {}

  // Guarded by this; the one that was used last is the last.
  private final Map<Key, NodeData> known =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, NodeData> eldest) {
          return size() > MOST;
        }
      };

  synchronized @Nullable NodeData of(String folder, QueueNode node) {
    return known.get(new Key(folder, node.client()));
  }

  synchronized void remember(String folder, QueueNode node, NodeData data) {
    if (data.isReadable()) {
      known.put(new Key(folder, node.client()), data);
    }
  }
}
