package io.fenceline.redis.connection;

import io.fenceline.redis.layout.Answers;
import io.fenceline.redis.layout.Layout;
import io.lettuce.core.cluster.SlotHash;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Who has which slot, as one node of a Cluster sees it: its answer to {@code CLUSTER SLOTS}. */
final class SlotMap {
  private static final int MASTER = 2;
  private static final int ID = 2;
  private static final int METADATA = 3;
  private static final String UNKNOWN_HOST = "?";

  private final @Nullable Address[] owners = new Address[SlotHash.SLOT_COUNT];

  /** The masters of the slots by what tells them apart: their ids, or else their addresses. */
  private final @Nullable String[] masters = new String[SlotHash.SLOT_COUNT];

  private final Set<Address> nodes = new HashSet<>();
  private final Set<String> members = new HashSet<>();

  /** Where a node is. */
  record Address(String host, int port) {}

  private SlotMap() {}

  /**
   * Reads an answer: ranges of slots, each with its first and last slot, its master, and then its
   * replicas.
   *
   * @param asked the host that answered; nodes that do not say where they are, are there
   */
  static SlotMap parse(List<Object> ranges, String asked) {
    SlotMap map = new SlotMap();
    for (Object some : ranges) {
      List<?> range = (List<?>) some;
      List<?> master = (List<?>) range.get(MASTER);
      Address owner = address(master, asked);
      String id = master.size() > ID ? Answers.text(master.get(ID)) : owner.toString();
      long last = Answers.number(range.get(1));
      for (long slot = Answers.number(range.get(0)); slot <= last; slot++) {
        map.owners[(int) slot] = owner;
        map.masters[(int) slot] = id;
      }
      for (Object each : range.subList(MASTER, range.size())) {
        List<?> node = (List<?>) each;
        map.nodes.add(address(node, asked));
        if (node.size() > ID) {
          map.members.add(Answers.text(node.get(ID)));
        }
      }
    }
    return map;
  }

  private static Address address(List<?> node, String asked) {
    int port = (int) Answers.number(node.get(1));
    return new Address(
        host(node.get(0) == null ? "" : Answers.text(node.get(0)), node, asked), port);
  }

  /** Redis gives no host, or a question mark, where it was told to name it otherwise, and can't. */
  private static String host(String said, List<?> node, String asked) {
    if (!said.isEmpty() && !said.equals(UNKNOWN_HOST)) {
      return said;
    }
    List<?> facts = node.size() > METADATA ? (List<?>) node.get(METADATA) : List.of();
    for (int i = 0; said.equals(UNKNOWN_HOST) && i + 1 < facts.size(); i += 2) {
      String ip = Answers.text(facts.get(i + 1));
      if (Answers.text(facts.get(i)).equals("ip") && !ip.isEmpty()) {
        return ip; // A node that has met no other does not know its own.
      }
    }
    return asked;
  }

  /** Whether each slot has a master. A node that has left the Cluster knows of none. */
  boolean isWhole() {
    for (Address owner : owners) {
      if (owner == null) {
        return false;
      }
    }
    return true;
  }

  /** The master of a bucket; the map must be whole. */
  Address ownerOf(int bucket) {
    Address owner = owners[SlotHash.getSlot(Layout.counter(bucket))];
    if (owner == null) {
      throw new IllegalStateException("no node serves the slot of bucket " + bucket);
    }
    return owner;
  }

  /** Where all nodes are, masters and replicas. */
  Set<Address> nodes() {
    return Set.copyOf(nodes);
  }

  /** Whether both know the same masters of all slots. */
  boolean hasSameMasters(SlotMap other) {
    return Arrays.equals(masters, other.masters);
  }

  /** Whether it may be another Cluster's: no node is in both. Old servers do not tell. */
  boolean isStrangeTo(SlotMap other) {
    return !other.members.isEmpty() && Collections.disjoint(members, other.members);
  }
}
