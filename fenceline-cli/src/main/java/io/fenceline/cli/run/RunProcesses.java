package io.fenceline.cli.run;

import io.fenceline.cli.run.ProcessTable.Entry;
import io.fenceline.cli.run.ProcessTable.Snapshot;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Finds the processes of a run, and has signals sent to them.
 *
 * <p>They are those of the guard's session. In a terminal that session is the user's own: then they
 * are those of the guard's group, those that carry the run's mark in their environment, and the
 * descendants of both. The watchdog of a run inside this run is waited for, and gets no signals.
 */
final class RunProcesses {

  /*
   * "Nobody is left" is said only by who can know it: after several looks (a process that forks and
   * ends while /proc is read is seen nowhere, nor is the mark of one that is just becoming another
   * program), never when /proc can't be read, and where it hides the processes of other users, such
   * as those of sudo, only if the kernel knows of no process either in all groups that were seen,
   * nor of the hidden children.
   *
   * watchdog.sh has the same rules, for when this process is gone.
   */

  /** In the environment of a watchdog: the marks of the runs around its run. */
  static final String WATCHES = "FENCELINE_WATCHES";

  private static final int NOBODY = -1;
  private static final int LOOKS = 3;
  private static final int LOOKS_AT_NEWBORN = 10;
  private static final long NEWBORN_MILLIS = 20;

  /** Sends a signal; see {@link Watchdog#send}. */
  interface Sender {
    /**
     * Sends a signal to processes and, with a minus sign, to process groups.
     *
     * @param members of the group, to be told one by one if it can't be told as a whole
     * @return those that exist, whether or not they could be told
     */
    Set<Long> send(String signal, Collection<Long> targets, Collection<Long> members)
        throws InterruptedException;
  }

  private final ProcessTable table;
  private final String mark;
  private final Entry guard;
  private final long keeper;
  private final Sender sender;

  private final Set<Integer> users = new HashSet<>();
  private final Set<Long> groups = new TreeSet<>();
  private final Set<Long> hidden = new TreeSet<>();
  private Set<Identity> known = Set.of();

  /**
   * Nothing is looked at yet.
   *
   * @param keeper the process that gave the terminal to the guard; 0 if the session is the guard's
   */
  RunProcesses(ProcessTable table, String mark, Entry guard, long keeper, Sender sender) {
    this.table = table;
    this.mark = mark;
    this.guard = guard;
    this.keeper = keeper;
    this.sender = sender;
    groups.add(guard.pid());
    table.user(ProcessHandle.current().pid()).ifPresent(users::add);
  }

  /** Tells a process from a later one with the same id. */
  private record Identity(long pid, long started) {
    static Identity of(Entry entry) {
      return new Identity(entry.pid(), entry.started());
    }
  }

  /** Who was found by one look. */
  private static final class Look {
    final Set<Long> grouped = new LinkedHashSet<>();
    final Set<Long> single = new LinkedHashSet<>();
    final Set<Long> nested = new LinkedHashSet<>();
    boolean isUnsure;

    List<Long> all() {
      List<Long> all = new ArrayList<>(grouped);
      all.addAll(single);
      all.addAll(nested);
      return all;
    }
  }

  /** Sends a signal ("0": none) to all of them, and returns those that were alive. */
  Survivors send(String signal) throws InterruptedException {
    Look look = new Look();
    int newborn = 0;
    for (int i = 0; i < LOOKS; i++) {
      Snapshot snapshot;
      try {
        snapshot = table.read();
      } catch (IOException e) {
        return Survivors.UNKNOWN;
      }
      look = look(snapshot, signal);
      if (!look.all().isEmpty()) {
        return new Survivors(look.all(), true);
      }
      if (!snapshot.isWhole()) {
        Set<Long> unseen = sender.send("0", unseen(), List.of());
        if (!unseen.isEmpty()) {
          return new Survivors(List.copyOf(unseen), true);
        }
      }
      if (look.isUnsure && newborn++ < LOOKS_AT_NEWBORN) {
        TimeUnit.MILLISECONDS.sleep(NEWBORN_MILLIS);
        i = -1;
      }
    }
    return Survivors.NONE;
  }

  /** Whoever was part of the run, and can't be seen. */
  private Set<Long> unseen() {
    Set<Long> unseen = new LinkedHashSet<>(hidden);
    groups.forEach(group -> unseen.add(-group));
    return unseen;
  }

  /**
   * Whether the command runs: in a terminal the guard becomes it, otherwise it is a child of the
   * guard. Until then its words are the guard's.
   */
  boolean hasBegun(String folder) {
    if (keeper != 0) {
      return isCommand(guard.pid(), folder);
    }
    return table.children(guard.pid()).stream().anyMatch(child -> isCommand(child, folder));
  }

  private boolean isCommand(long pid, String folder) {
    List<String> words = table.commandLine(pid);
    return !words.isEmpty() && !words.contains(folder);
  }

  private Look look(Snapshot snapshot, String signal) throws InterruptedException {
    Look look = new Look();
    Map<Long, Entry> processes = snapshot.processes();
    Entry leader = processes.get(guard.pid());
    // If another process has its id by now, nobody is left in its group, nor in a session of it.
    boolean isReused = leader != null && !leader.isSameAs(guard);
    List<Entry> others = new ArrayList<>();
    for (Entry each : processes.values()) {
      if (each.session() != guard.session() || !each.isAlive() || each.pid() == keeper) {
        continue;
      }
      if (each.group() == guard.pid() && !isReused) {
        look.grouped.add(each.pid());
      } else if (keeper == 0 && !isReused) {
        look.single.add(each.pid());
      } else if (keeper != 0 && each.started() >= guard.started()) {
        others.add(each);
      }
    }
    if (keeper == 0 && leader == null && !known.isEmpty()) {
      dropStrangers(look, processes);
    }
    addDescendants(look, others);
    // Those that are found without asking anybody come first: to ask may take long.
    tell(look, signal, look.grouped, look.single);
    Set<Long> marked = marked(look, others);
    if (!marked.isEmpty()) {
      Set<Long> told = Set.copyOf(look.single);
      others.removeIf(each -> marked.contains(each.pid()));
      look.single.addAll(marked);
      addDescendants(look, others);
      tell(look, signal, Set.of(), look.single.stream().filter(p -> !told.contains(p)).toList());
    }
    remember(look, snapshot);
    addNested(look, processes.values());
    return look;
  }

  private void tell(Look look, String signal, Set<Long> grouped, Collection<Long> single)
      throws InterruptedException {
    List<Long> targets = new ArrayList<>(single);
    if (!grouped.isEmpty()) {
      targets.add(0, -guard.pid()); // At once to the whole group: nobody can fork in between.
    }
    if (!targets.isEmpty() && !signal.equals("0")) {
      sender.send(signal, targets, look.grouped);
    }
  }

  /**
   * The id of a session is free for others when all of it have ended. It goes on as long as someone
   * is there who was there at the look before, or carries the mark.
   */
  private void dropStrangers(Look look, Map<Long, Entry> processes) {
    Set<Long> found = new LinkedHashSet<>(look.grouped);
    found.addAll(look.single);
    boolean goesOn =
        found.stream().anyMatch(pid -> isKnown(processes.get(pid)) || isMarked(look, pid));
    if (!goesOn) {
      look.grouped.clear();
      look.single.clear();
    }
  }

  private boolean isKnown(@Nullable Entry entry) {
    return entry != null && known.contains(Identity.of(entry));
  }

  private static void addDescendants(Look look, List<Entry> others) {
    boolean found = true;
    while (found) {
      found =
          others.removeIf(
              each -> {
                boolean isChild =
                    look.grouped.contains(each.parent()) || look.single.contains(each.parent());
                if (isChild) {
                  look.single.add(each.pid());
                }
                return isChild;
              });
    }
  }

  private Set<Long> marked(Look look, List<Entry> others) {
    Set<Long> marked = new LinkedHashSet<>();
    for (Entry each : others) {
      if (isMarked(look, each.pid())) {
        marked.add(each.pid());
      }
    }
    return marked;
  }

  private boolean isMarked(Look look, long pid) {
    try {
      List<String> variables = table.environment(pid);
      look.isUnsure |= variables.isEmpty();
      return hasMark(variables, GuardedCommand.MARK);
    } catch (IOException e) {
      return false; // It has ended; or it is of another user, and no descendant: out of reach.
    }
  }

  private boolean hasMark(List<String> variables, String name) {
    return variables.stream()
        .filter(variable -> variable.startsWith(name + "="))
        .anyMatch(v -> Arrays.asList(v.substring(name.length() + 1).split(" ", -1)).contains(mark));
  }

  private void remember(Look look, Snapshot snapshot) {
    Set<Identity> found = new HashSet<>();
    List<Long> all = look.all();
    for (long pid : all) {
      Entry each = snapshot.processes().get(pid);
      if (each == null) {
        continue;
      }
      found.add(Identity.of(each));
      groups.add(each.group());
      table.user(pid).ifPresent(users::add);
      if (!snapshot.isWhole()) {
        table.children(pid).stream()
            .filter(child -> !snapshot.processes().containsKey(child))
            .forEach(hidden::add);
      }
    }
    if (!found.isEmpty()) {
      known = found;
    }
  }

  /** The watchdogs of runs inside this run; only a user who is part of this run can have one. */
  private void addNested(Look look, Collection<Entry> processes) {
    for (Entry each : processes) {
      boolean canBe =
          each.pid() == each.session()
              && each.session() != guard.session()
              && each.started() >= guard.started()
              && each.isAlive()
              && users.contains(table.user(each.pid()).orElse(NOBODY));
      if (!canBe) {
        continue;
      }
      try {
        List<String> variables = table.environment(each.pid());
        look.isUnsure |= variables.isEmpty();
        if (hasMark(variables, WATCHES)) {
          look.nested.add(each.pid());
        }
      } catch (IOException e) {
        // It has ended, or may not be asked.
      }
    }
  }
}
