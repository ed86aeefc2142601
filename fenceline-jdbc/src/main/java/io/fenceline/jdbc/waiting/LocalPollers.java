package io.fenceline.jdbc.waiting;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The clients of this process that use the same tables: they tell each other at once what they
 * would otherwise find out by looking.
 */
public final class LocalPollers {
  // The lists are never changed, only replaced: they are read at each release.
  private static final ConcurrentHashMap<String, List<QueuePoller>> POLLERS =
      new ConcurrentHashMap<>();

  private final String tables;

  /** Those who use tables that are called like this, with their database. */
  public LocalPollers(String tables) {
    this.tables = tables;
  }

  public void add(QueuePoller poller) {
    POLLERS.compute(
        tables,
        (key, pollers) -> {
          List<QueuePoller> more = new ArrayList<>(pollers == null ? List.of() : pollers);
          more.add(poller);
          return more;
        });
  }

  public void remove(QueuePoller poller) {
    POLLERS.computeIfPresent(
        tables,
        (key, pollers) -> {
          List<QueuePoller> less = new ArrayList<>(pollers);
          less.remove(poller);
          return less.isEmpty() ? null : less;
        });
  }

  /** Someone's turn has come; gives whether it waits here. */
  public boolean hint(String id) {
    boolean isKnown = false;
    for (QueuePoller poller : pollers()) {
      isKnown |= poller.hint(id);
    }
    return isKnown;
  }

  /** As {@link #hint}, where asking does not block. */
  public void hintNow(String id) {
    pollers().forEach(poller -> poller.hintNow(id));
  }

  /** Whether no more than one claim of this process waits. */
  boolean isOneAtMost() {
    return pollers().stream().mapToInt(QueuePoller::size).sum() <= 1;
  }

  /**
   * It is the turn of someone of this process, but the bell does not say whose. If all wait for one
   * name, the first who came is asked for: if it is not its turn, its answer tells whose it is.
   */
  void rung() {
    Map<String, QueuePoller.Waiting> first = new HashMap<>();
    pollers().forEach(poller -> poller.addQuiet(first));
    if (first.size() == 1) {
      hintNow(first.values().iterator().next().id());
    } else {
      // On the bell's own thread: its next sleep begins when those who were found have been asked
      // for.
      look(first.keySet(), Runnable::run);
    }
  }

  /** Looks for all who wait in this process, once. */
  void look() {
    look(quietNames(), null);
  }

  private void look(Collection<String> names, @Nullable Executor thread) {
    List<QueuePoller> pollers = pollers();
    if (!names.isEmpty() && !pollers.isEmpty()) {
      // If the client that looks is being closed, or in need, each looks for itself.
      pollers.get(0).look(List.copyOf(names), thread, this::hintNow, this::soon);
    }
  }

  /** Names for which someone waits, and nobody is being asked for. */
  Collection<String> quietNames() {
    Map<String, QueuePoller.Waiting> first = new HashMap<>();
    pollers().forEach(poller -> poller.addQuiet(first));
    Set<String> names = new HashSet<>(first.keySet());
    pollers().forEach(poller -> poller.removeAsked(names));
    return names;
  }

  /** A name has become free that someone may wait for. */
  public void soon() {
    pollers().forEach(QueuePoller::soon);
  }

  private List<QueuePoller> pollers() {
    return POLLERS.getOrDefault(tables, List.of());
  }
}
