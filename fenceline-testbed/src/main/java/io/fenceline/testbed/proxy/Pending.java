package io.fenceline.testbed.proxy;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;

/** Requests that went out and whose replies are yet to come, with what is to happen to those. */
final class Pending {

  private record Entry(Object replyKey, List<Fault> faults) {}

  private final Queue<Entry> entries = new ArrayDeque<>();

  synchronized void add(Object replyKey, List<Fault> faults) {
    if (replyKey.equals(Conversation.BYTES) && faults.isEmpty()) {
      return; // chunks of bytes have no replies one by one: they would pile up here
    }
    entries.add(new Entry(replyKey, faults));
  }

  /** Takes the oldest request that the reply answers; none if there is no such request. */
  synchronized List<Fault> take(Object replyKey) {
    for (Iterator<Entry> each = entries.iterator(); each.hasNext(); ) {
      Entry entry = each.next();
      if (entry.replyKey.equals(replyKey)) {
        each.remove();
        return entry.faults;
      }
    }
    return List.of();
  }
}
