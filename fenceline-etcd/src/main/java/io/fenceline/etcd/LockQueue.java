package io.fenceline.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Obstacle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The queue of a name, as one claim sees it: what is ahead, and whether that leaves room for it.
 *
 * <p>Claims are granted in the order of their create revisions, none before another that is ahead
 * and does not fit. So a claim has its turn when it fits beside <em>all</em> that is ahead of it,
 * holders and waiters alike, and needs to know nothing of what is behind.
 */
final class LockQueue {
  /*
   * What would break it, and why it can't:
   *
   * - Two exclusive grants: of two keys one has the smaller create revision, and the other one sees it
   *   in the very transaction that puts its own key, or in the check after a wait, for as long as it
   *   exists. Create revisions of one store revision can't be equal: a transaction puts one key.
   * - A grant on a key that is gone: the check after a wait is one transaction that also compares the
   *   create revision of the own key.
   * - A turn that is taken for one: whoever has once seen all that is ahead has its turn when none of
   *   these is there any more, since newcomers are behind. Where there were too many to be seen, the end
   *   of a key tells of a turn only if its last value says that it had the name alone: it got that value
   *   when nobody was ahead of it, and nobody is between it and us. Whoever is not sure looks.
   * - A claim that overtakes: a new key always gets a larger create revision. A put on an existing key
   *   (a move to another lease) leaves it as it is.
   */

  /** More claims of one name than this are seldom: a process has one at most. */
  private static final int FEW = 16;

  /** Nobody is ahead. */
  static final LockQueue ALONE = new LockQueue(Mode.EXCLUSIVE, List.of(), true);

  private final Mode mode;
  private final List<Entry> ahead;
  private final boolean whole;

  private LockQueue(Mode mode, Collection<Entry> ahead, boolean whole) {
    this.mode = mode;
    this.ahead = List.copyOf(ahead);
    this.whole = whole;
  }

  /**
   * What the transaction that puts a key reads of its name: a few claims, in whatever order. Where
   * these are all, as nearly always, {@link #seen} can tell; else it takes a look.
   */
  static List<Op> firstReads(Mode mode, ByteSequence name) {
    if (!(mode instanceof Mode.Exclusive)) {
      return lookReads(mode, name, 0);
    }
    return List.of(Op.get(name, GetOption.builder().isPrefix(true).withLimit(FEW).build()));
  }

  /** Whether one of the reads has left nothing out. */
  static boolean isWhole(List<GetResponse> reads) {
    return reads.stream().anyMatch(read -> !read.isMore());
  }

  /** What a look has to read of a name, however many there are, so that {@link #seen} can tell. */
  static List<Op> lookReads(Mode mode, ByteSequence name, long before) {
    if (!(mode instanceof Mode.Exclusive)) {
      return List.of(get(name, before, b -> b.withSortOrder(GetOption.SortOrder.ASCEND)));
    }
    // Whoever is first, to say who is in the way; and the last ones, to wait for.
    return List.of(
        get(name, before, b -> b.withSortOrder(GetOption.SortOrder.ASCEND).withLimit(1)),
        get(name, before, b -> b.withSortOrder(GetOption.SortOrder.DESCEND).withLimit(2)));
  }

  private static Op get(ByteSequence name, long before, UnaryOperator<GetOption.Builder> more) {
    GetOption.Builder option =
        GetOption.builder().isPrefix(true).withSortField(GetOption.SortTarget.CREATE);
    if (before > 0) {
      option.withMaxCreateRevision(before - 1);
    }
    return Op.get(name, more.apply(option).build());
  }

  /** All that the reads have found, each key once, in order. */
  static List<Entry> found(List<GetResponse> reads) {
    Map<Long, Entry> found = new TreeMap<>();
    for (GetResponse read : reads) {
      for (Entry entry : Entry.all(read.getKvs())) {
        found.put(entry.created(), entry);
      }
    }
    return new ArrayList<>(found.values());
  }

  /** The queue ahead of a claim that was created at a revision. */
  static LockQueue seen(Mode mode, long created, List<GetResponse> reads) {
    return new LockQueue(
        mode,
        found(reads).stream().filter(entry -> entry.created() < created).toList(),
        isWhole(reads));
  }

  boolean hasRoom() {
    return blockers().isEmpty();
  }

  /** The keys that are in the way; of one mode that waits for all of them, or for the last. */
  private List<Entry> blockers() {
    if (mode instanceof Mode.Shared) {
      return ahead.stream().filter(e -> !(e.value().mode() instanceof Mode.Shared)).toList();
    }
    boolean fits = mode.fitsBeside(ahead.stream().map(e -> e.value().mode()).toList());
    return fits ? List.of() : ahead;
  }

  /** Another kind of lock than the one that is in use; null if they are the same. */
  @Nullable String conflict() {
    if (ahead.isEmpty()) {
      return null;
    }
    String inUse = ahead.get(0).value().mode().family();
    return inUse.equals(mode.family()) ? null : inUse;
  }

  Obstacle obstacle() {
    return obstacle(null);
  }

  Obstacle obstacle(@Nullable Duration remaining) {
    Entry first = first();
    return first == null
        ? Obstacle.UNKNOWN
        : new Obstacle(first.value().client().label(), first.created(), remaining);
  }

  /** Whoever holds the name, if it is not free. */
  @Nullable Entry first() {
    return ahead.isEmpty() ? null : ahead.get(0);
  }

  /**
   * What to watch: the keys whose end may make room, with what each of them takes. Permits come
   * free one by one, so that all of them count; for the other modes it is the nearest one that is
   * in the way, and nobody else is woken by its end.
   */
  Map<ByteSequence, Integer> watched() {
    Map<ByteSequence, Integer> watched = new LinkedHashMap<>();
    List<Entry> blockers = blockers();
    if (mode instanceof Mode.Permits mine) {
      for (Entry entry : blockers) {
        boolean same = entry.value().mode() instanceof Mode.Permits;
        watched.put(
            entry.key(), same ? ((Mode.Permits) entry.value().mode()).count() : mine.total());
      }
    } else if (!blockers.isEmpty()) {
      watched.put(blockers.get(blockers.size() - 1).key(), 1);
    }
    return watched;
  }

  /** All that is ahead, by key with the create revision; null if some may be missing. */
  @Nullable Map<ByteSequence, Long> all() {
    if (!whole) {
      return null;
    }
    Map<ByteSequence, Long> all = new LinkedHashMap<>();
    ahead.forEach(entry -> all.put(entry.key(), entry.created()));
    return all;
  }

  /** Whether only one is in the way, so that there is room once it is gone. */
  boolean waitsForOne() {
    return blockers().size() == 1;
  }

  /** How much of what is watched may remain when there is room. */
  int spare() {
    return mode instanceof Mode.Permits mine ? mine.total() - mine.count() : 0;
  }

  /** Who holds a name, given all of its claims in order: those from the front that have room. */
  static List<Entry> holders(List<Entry> all) {
    List<Entry> holders = new ArrayList<>();
    List<Mode> held = new ArrayList<>();
    for (Entry entry : all.stream().sorted(Comparator.comparingLong(Entry::created)).toList()) {
      if (!entry.value().mode().fitsBeside(held)) {
        break;
      }
      held.add(entry.value().mode());
      holders.add(entry);
    }
    return holders;
  }
}
