package io.fenceline.zookeeper.claim;

import io.fenceline.zookeeper.layout.NodeData;
import io.fenceline.zookeeper.layout.QueueNode;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A cache of the data in other clients' nodes, by name: clients that take turns meet each other
 * again and again, and need not read the data each time. It is shown to people, and decides
 * nothing.
 */
public final class KnownClients {
  private static final int MOST = 1_000;

  private record Key(String folder, String client) {}

  // Guarded by this; in the order of last use.
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
