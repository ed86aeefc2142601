package io.fenceline.redis.connection;

import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks several nodes of a Cluster who has which slot, and takes what most of them say.
 *
 * <p>A master that is cut off from the others goes on to tell the map that it knew, so one node
 * alone does not decide where others can be asked. Nobody waits for a node that is silent: when
 * nothing was heard for a while, another one is asked as well.
 */
final class SlotMapVote {
  private static final Logger LOG = LoggerFactory.getLogger(SlotMapVote.class);

  /** How many are asked at once. */
  static final int PANEL = 5;

  private static final long PAUSE_NANOS = 250_000_000;

  private final Time time;
  private final @Nullable SlotMap last;
  private final Function<Server, CompletableFuture<SlotMap>> ask;
  private final CompletableFuture<SlotMap> result = new CompletableFuture<>();

  // Guarded by this.
  private final ArrayDeque<Server> candidates;
  private final List<SlotMap> believed = new ArrayList<>();
  private final Map<SlotMap.Address, SlotMap> strangers = new HashMap<>();
  private Throwable failure = NoAnswerException.unsent("No node of the Cluster was asked");
  private int panel;
  private int open;

  /** A node is of another Cluster than the one that we know. */
  static final class StrangeClusterException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient SlotMap map;

    StrangeClusterException(Server asked, SlotMap map) {
      super(
          asked + " is of another Cluster; if this one was replaced as a whole, connect anew",
          null,
          false,
          false);
      this.map = map;
    }
  }

  /**
   * A poll that has not begun.
   *
   * @param last the map that we had before; null for none
   * @param candidates whom to ask, those first that are likely to answer
   */
  SlotMapVote(
      Time time,
      @Nullable SlotMap last,
      Collection<Server> candidates,
      Function<Server, CompletableFuture<SlotMap>> ask) {
    this.time = time;
    this.last = last;
    this.candidates = new ArrayDeque<>(candidates);
    this.ask = ask;
  }

  /**
   * Begins.
   *
   * @param first how many of the candidates are asked at once; at least one
   */
  CompletableFuture<SlotMap> start(int first) {
    List<Server> asked = new ArrayList<>();
    synchronized (this) {
      panel = Math.min(Math.min(PANEL, Math.max(1, first)), candidates.size());
      for (int i = 0; i < panel; i++) {
        asked.add(candidates.remove());
      }
      open = panel;
    }
    asked.forEach(this::ask);
    if (asked.isEmpty()) {
      decide();
    } else {
      pause();
    }
    return result;
  }

  private void ask(Server server) {
    ask.apply(server).whenComplete((map, thrown) -> heard(server, map, Failures.unwrapped(thrown)));
  }

  private void heard(Server asked, @Nullable SlotMap answer, @Nullable Throwable thrown) {
    Server next = null;
    boolean decided;
    synchronized (this) {
      open--;
      boolean good = judge(asked, answer, thrown);
      if (!good && !candidates.isEmpty()) {
        next = candidates.remove();
        open++;
      }
      decided = open == 0 || (good && 2 * votes(believed.get(believed.size() - 1)) > panel);
    }
    if (decided) {
      decide();
    } else if (next != null && !result.isDone()) {
      ask(next);
    }
  }

  /** Takes note of an answer; says whether it is believed. */
  private boolean judge(Server asked, @Nullable SlotMap answer, @Nullable Throwable thrown) {
    SlotMap map = thrown instanceof StrangeClusterException strange ? strange.map : answer;
    if (map == null) {
      failure = thrown == null ? failure : thrown;
    } else if (!map.isWhole()) {
      failure = NoAnswerException.unsent(asked + " does not know who has all slots");
    } else if (last != null && map.isStrangeTo(last)) {
      failure = new StrangeClusterException(asked, map);
      strangers.put(new SlotMap.Address(asked.host(), asked.port()), map);
    } else {
      believed.add(map);
      return true;
    }
    LOG.debug("The map of {} is not believed: {}", asked, failure + "");
    return false;
  }

  private long votes(SlotMap map) {
    return believed.stream().filter(map::hasSameMasters).count();
  }

  /** Those that have not answered for a while are not waited for. */
  private void pause() {
    Time.Timer timer = time.schedule(PAUSE_NANOS, () -> time.lane(Lane.WORK).execute(this::goOn));
    result.whenComplete((map, thrown) -> timer.cancel());
  }

  private void goOn() {
    if (result.isDone()) {
      return;
    }
    Server next = null;
    boolean decided;
    synchronized (this) {
      decided = !believed.isEmpty();
      if (!decided && !candidates.isEmpty()) {
        next = candidates.remove();
        open++;
      }
    }
    if (decided) {
      decide();
      return;
    }
    if (next != null) {
      ask(next);
    }
    pause();
  }

  private void decide() {
    SlotMap chosen;
    Throwable why;
    synchronized (this) {
      chosen = believed.isEmpty() ? rebuilt() : mostSaid(believed);
      why = failure;
    }
    if (chosen == null) {
      result.completeExceptionally(why);
    } else {
      result.complete(chosen);
    }
  }

  /** The map that most of them agree on; the first of them where none does. */
  static SlotMap mostSaid(List<SlotMap> maps) {
    SlotMap best = maps.get(0);
    long most = 0;
    for (SlotMap map : maps) {
      long votes = maps.stream().filter(map::hasSameMasters).count();
      if (votes > most) {
        best = map;
        most = votes;
      }
    }
    return best;
  }

  /**
   * The map of a Cluster that was built anew where ours was: at each address that a node of ours
   * had, masters and replicas, another one answers, all of the same Cluster. If one of ours may be
   * left and is only out of reach, it is no such thing: an address can be given to anybody.
   */
  private @Nullable SlotMap rebuilt() {
    if (last == null) {
      return null;
    }
    Set<SlotMap.Address> all = last.nodes();
    if (!strangers.keySet().containsAll(all)) {
      return null;
    }
    List<SlotMap> maps = all.stream().map(strangers::get).toList();
    SlotMap first = maps.get(0);
    return maps.stream().noneMatch(map -> map.isStrangeTo(first)) ? mostSaid(maps) : null;
  }
}
