package io.fenceline.zookeeper.claim;

import io.fenceline.spi.Mode;
import io.fenceline.zookeeper.layout.QueueNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The claims of one name in the order in which they came: decides who holds it, and who waits for
 * whom.
 *
 * <p>A claim is granted when it fits beside all claims ahead of it, granted or waiting. So nobody
 * overtakes, and every client comes to the same result from the same list.
 */
public final class LockQueue {
  /*
   * The order is that of creation. Up to 2^31 the sequence gives it. Beyond that it does not: a
   * server of 3.9 repeats 2147483647, mixed with negative numbers for requests that come close
   * together (older servers wrap). A name in steady use gets there after 25 days at a thousand claims
   * a second, since the sequence is reset only when its container is empty and removed. So near the
   * end of the numbers the order is that of the czxid, which costs a read for each node.
   */
  private static final int MARGIN = 1 << 20;

  private static final Comparator<QueueNode> BY_SEQUENCE =
      Comparator.comparingInt(QueueNode::sequence);

  private final List<QueueNode> nodes;
  private final boolean isBySequence;
  private final boolean isOneFamily;

  private LockQueue(List<QueueNode> nodes, boolean isBySequence) {
    this.nodes = nodes;
    this.isBySequence = isBySequence;
    this.isOneFamily = areOneFamily(nodes);
  }

  private static boolean areOneFamily(List<QueueNode> nodes) {
    for (QueueNode node : nodes) {
      if (!isOneFamily(node.mode(), nodes.get(0).mode())) {
        return false;
      }
    }
    return true;
  }

  private static boolean isOneFamily(Mode one, Mode other) {
    return one == other || one.family().equals(other.family());
  }

  /** Returns the children that are claims, in no order yet. */
  public static List<QueueNode> parse(List<String> children) {
    List<QueueNode> nodes = new ArrayList<>(children.size());
    for (String child : children) {
      QueueNode node = QueueNode.parse(child);
      if (node != null) {
        nodes.add(node);
      }
    }
    return nodes;
  }

  /** Returns whether the sequences of these nodes give their order. */
  static boolean areSequencesSound(List<QueueNode> nodes) {
    for (QueueNode node : nodes) {
      if (!isSound(node.sequence())) {
        return false;
      }
    }
    return true;
  }

  /** Returns whether a sequence is far enough from the end of the numbers to give an order. */
  static boolean isSound(int sequence) {
    return sequence >= 0 && sequence <= Integer.MAX_VALUE - MARGIN;
  }

  /** Returns the queue in the order of sequences. */
  static LockQueue bySequence(List<QueueNode> nodes) {
    if (nodes.size() > 1) {
      nodes.sort(BY_SEQUENCE);
    }
    return new LockQueue(nodes, true);
  }

  /** Returns the queue in the order of czxids; nodes that have none are gone. */
  static LockQueue byCreation(List<QueueNode> nodes, Map<String, Long> czxids) {
    nodes.removeIf(node -> !czxids.containsKey(node.name()));
    nodes.sort(Comparator.comparingLong(node -> czxids.getOrDefault(node.name(), 0L)));
    return new LockQueue(nodes, false);
  }

  public List<QueueNode> nodes() {
    return nodes;
  }

  /** Returns those ahead of a node, the nearest last; null if the node is not in the queue. */
  @Nullable List<QueueNode> aheadOf(String name) {
    int index = indexOf(name);
    return index < 0 ? null : nodes.subList(0, index);
  }

  private int indexOf(String name) {
    QueueNode own = QueueNode.parse(name);
    if (isBySequence && own != null) {
      int index = Collections.binarySearch(nodes, own, BY_SEQUENCE);
      return index >= 0 && nodes.get(index).name().equals(name) ? index : -1;
    }
    for (int i = 0; i < nodes.size(); i++) {
      if (nodes.get(i).name().equals(name)) {
        return i;
      }
    }
    return -1;
  }

  /** Returns how many from the head of the queue are granted. */
  public int granted() {
    List<Mode> ahead = new ArrayList<>();
    for (QueueNode node : nodes) {
      if (!node.mode().fitsBeside(ahead)) {
        break;
      }
      ahead.add(node.mode());
    }
    return ahead.size();
  }

  /** Returns whether a claim fits beside those ahead of it. */
  static boolean fits(Mode mode, List<QueueNode> ahead) {
    return ahead.isEmpty() || mode.fitsBeside(modes(toWatch(mode, ahead)));
  }

  static List<Mode> modes(List<QueueNode> nodes) {
    List<Mode> modes = new ArrayList<>(nodes.size());
    for (QueueNode node : nodes) {
      modes.add(node.mode());
    }
    return modes;
  }

  /** Returns one ahead whose mode can't share a queue with this mode; null if there is none. */
  @Nullable QueueNode stranger(Mode mode, List<QueueNode> ahead) {
    if (isOneFamily) {
      return ahead.isEmpty() || isOneFamily(mode, ahead.get(0).mode()) ? null : ahead.get(0);
    }
    for (QueueNode node : ahead) {
      if (!isOneFamily(mode, node.mode())) {
        return node;
      }
    }
    return null;
  }

  /**
   * Returns the predecessors to watch, the nearest first: so many of those in the way that this
   * claim can't fit before one of them leaves, whoever else does. One for a lock, up to n for a
   * semaphore of n.
   */
  static List<QueueNode> toWatch(Mode mode, List<QueueNode> ahead) {
    List<QueueNode> watched = new ArrayList<>(1);
    List<Mode> staying = new ArrayList<>(1);
    for (int i = ahead.size() - 1; i >= 0 && mode.fitsBeside(staying); i--) {
      QueueNode node = ahead.get(i);
      boolean inTheWay = !(mode instanceof Mode.Shared && node.mode() instanceof Mode.Shared);
      if (inTheWay) {
        watched.add(node);
        staying.add(node.mode());
      }
    }
    return watched;
  }
}
