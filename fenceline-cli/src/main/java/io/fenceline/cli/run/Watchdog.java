package io.fenceline.cli.run;

import io.fenceline.cli.failure.ExitCode;
import io.fenceline.cli.failure.Failure;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The process that sends signals for this tool, and ends all processes of a run when this tool is
 * gone.
 *
 * <p>One that dies or does not answer is replaced, so that the command is never without for long.
 */
final class Watchdog implements RunProcesses.Sender {

  /*
   * It is told by its stdin and answers by its stdout. The JVM closes all other descriptors in its
   * children, so nobody else can keep that pipe open when this process dies.
   *
   * Whoever sends a signal may have little time left: a shell that does not answer soon is not
   * waited for. What Java can send by itself, without another process, it sends then.
   */

  private static final long START_MILLIS = TimeUnit.SECONDS.toMillis(30);
  private static final long START_PAUSE_MILLIS = 10;
  private static final long PATIENCE_MILLIS = 1000;
  private static final long SHORTEST_PAUSE_MILLIS = 100;
  private static final long LONGEST_PAUSE_MILLIS = TimeUnit.SECONDS.toMillis(5);
  private static final String READY = "armed";
  private static final String DONE = ".";

  private final List<String> line;
  private final Map<String, String> variables;
  private final List<String> introduction = new ArrayList<>();
  private @Nullable Shell shell;
  private long pauseMillis = SHORTEST_PAUSE_MILLIS;
  private boolean closed;

  private Watchdog(List<String> line, Map<String, String> variables, String mark) {
    this.line = line;
    this.variables = variables;
    introduction.add("mark " + mark);
  }

  /**
   * Starts it; it is ready when it has answered.
   *
   * @param library where its script is
   * @param folder what it shares with the guard
   * @param mark what the processes of this run carry in their environment
   */
  static Watchdog start(Path library, Path folder, String mark) throws IOException {
    String script = library.resolve("watchdog.sh").toString();
    String outer = System.getenv(GuardedCommand.MARK);
    Watchdog watchdog =
        new Watchdog(
            List.of("setsid", "sh", script, folder.toString()),
            outer == null ? Map.of() : Map.of(RunProcesses.WATCHES, outer),
            mark);
    synchronized (watchdog) {
      watchdog.replace();
    }
    return watchdog;
  }

  /** Tells what the guard has left: the file may be tidied away before it is needed. */
  synchronized void introduce(String guard) {
    introduction.add("guard " + guard);
    Shell current = shell;
    if (current != null) {
      current.tell("guard " + guard);
    }
  }

  /**
   * Has somebody beside the command end it when the time of {@link Until} is over; said again and
   * again, in case that one has died.
   */
  synchronized void watchClock(String signal) {
    String order = "clock " + signal;
    if (!introduction.contains(order)) {
      introduction.add(order);
    }
    Shell current = shell;
    if (current != null) {
      current.tell(order);
    }
  }

  @Override
  public synchronized Set<Long> send(
      String signal, Collection<Long> targets, Collection<Long> members)
      throws InterruptedException {
    String order =
        signal + " " + targets.stream().map(String::valueOf).collect(Collectors.joining(" "));
    Shell asked = shell;
    List<String> answer = asked == null ? null : asked.ask(order);
    if (answer != null) {
      return existing(answer);
    }
    if (!signal.equals("USR1") && !signal.equals("0")) {
      sendByJava(signal.equals("KILL"), targets, members);
    }
    if (asked != null) {
      asked.process.destroyForcibly(); // Its end has it replaced.
    }
    return Set.copyOf(targets); // As far as anybody knows.
  }

  /** Java can kill, and ask to end; processes, and not groups. */
  private static void sendByJava(
      boolean forcibly, Collection<Long> targets, Collection<Long> members) {
    Set<Long> all = new LinkedHashSet<>(members);
    targets.stream().filter(target -> target > 0).forEach(all::add);
    for (long pid : all) {
      ProcessHandle.of(pid).ifPresent(handle -> sendByJava(forcibly, handle));
    }
  }

  private static void sendByJava(boolean forcibly, ProcessHandle handle) {
    if (forcibly) {
      handle.destroyForcibly();
    } else {
      handle.destroy();
    }
  }

  /** Only who is known not to be there is left out. */
  private static Set<Long> existing(List<String> answer) {
    Set<Long> existing = new LinkedHashSet<>();
    String said = "";
    for (String each : answer) {
      boolean isThere = each.startsWith("+ ");
      if (isThere || each.startsWith("- ")) {
        if (isThere || !said.contains("No such process")) {
          existing.add(Long.valueOf(each.substring(2)));
        }
        said = "";
      } else {
        said += each; // dash ends what it says with an empty line.
      }
    }
    return existing;
  }

  private void replace() throws IOException {
    ProcessBuilder builder = new ProcessBuilder(line).redirectErrorStream(true);
    builder.environment().putAll(variables);
    builder.environment().remove("FENCELINE_STORE"); // It may have a password.
    builder.environment().remove(GuardedCommand.MARK); // It is not of that run.
    Shell started = new Shell(builder.start());
    shell = started;
    introduction.forEach(started::tell);
    started.process.onExit().thenRun(() -> ended(started));
  }

  /** One that ends at once would end again: the longer the more often it does, the next waits. */
  private synchronized void ended(Shell ended) {
    if (closed || shell != ended) {
      return;
    }
    shell = null;
    boolean wasLong =
        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - ended.startNanos) > LONGEST_PAUSE_MILLIS;
    replaceAfter(wasLong ? SHORTEST_PAUSE_MILLIS : pauseMillis);
  }

  private void replaceAfter(long millis) {
    pauseMillis = Math.min(2 * millis, LONGEST_PAUSE_MILLIS);
    CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS).execute(this::replaceMissing);
  }

  private synchronized void replaceMissing() {
    if (closed || shell != null) {
      return;
    }
    try {
      replace();
    } catch (IOException e) {
      replaceAfter(pauseMillis); // There may be too many processes just now.
    }
  }

  /** Waits until it is there; one that has died meanwhile is being replaced. */
  void awaitReady() throws InterruptedException {
    long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(START_MILLIS);
    while (System.nanoTime() - endNanos < 0) {
      Shell started = current();
      if (started != null && started.isReady(START_MILLIS)) {
        return;
      }
      TimeUnit.MILLISECONDS.sleep(START_PAUSE_MILLIS);
    }
    throw new Failure(
        ExitCode.SYSTEM, "can't start the watchdog process: " + String.join(" ", line));
  }

  private synchronized @Nullable Shell current() {
    return shell;
  }

  /** Leaves it alone with its task: it kills whoever is left of the run. */
  synchronized void abandon() {
    closed = true;
    Shell last = shell;
    if (last != null) {
      last.close();
    }
  }

  /** Lets it end, and whoever is left of the run go on. */
  synchronized void dismiss() {
    closed = true;
    Shell last = shell;
    if (last != null) {
      last.tell("quit");
      last.close();
    }
  }

  /** One process of it. */
  private static final class Shell {
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    final Process process;
    final long startNanos = System.nanoTime();
    private final OutputStream orders;
    private final LinkedBlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private boolean ready;

    Shell(Process process) {
      this.process = process;
      this.orders = process.getOutputStream();
      Thread reader = new Thread(this::read, "watchdog");
      reader.setDaemon(true);
      reader.start();
    }

    private void read() {
      try (BufferedReader in = process.inputReader(StandardCharsets.US_ASCII)) {
        for (String answer = in.readLine(); answer != null; answer = in.readLine()) {
          answers.add(answer);
        }
      } catch (IOException e) {
        // As if it had ended.
      }
    }

    /** Its first line says that it is. */
    boolean isReady(long millis) throws InterruptedException {
      long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
      while (!ready) {
        String said = next(endNanos);
        if (said == null) {
          return false;
        }
        ready = said.equals(READY);
      }
      return true;
    }

    /** Its answer; null if there is none in time. */
    @Nullable List<String> ask(String order) throws InterruptedException {
      long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
      if (!isReady(PATIENCE_MILLIS) || !tell(order)) {
        return null;
      }
      List<String> answer = new ArrayList<>();
      for (String said = next(endNanos); said != null; said = next(endNanos)) {
        if (said.equals(DONE)) {
          return answer;
        }
        answer.add(said);
      }
      return null;
    }

    /** The next line; null if there is none in time, or it has ended. */
    private @Nullable String next(long endNanos) throws InterruptedException {
      while (true) {
        long left = endNanos - System.nanoTime();
        String said = answers.poll(Math.min(left, LOOK_NANOS), TimeUnit.NANOSECONDS);
        if (said != null || left <= 0 || (!process.isAlive() && answers.isEmpty())) {
          return said;
        }
      }
    }

    boolean tell(String order) {
      try {
        orders.write((order + "\n").getBytes(StandardCharsets.ISO_8859_1));
        orders.flush();
        return true;
      } catch (IOException e) {
        return false;
      }
    }

    void close() {
      try {
        orders.close();
      } catch (IOException e) {
        // It is gone.
      }
    }
  }
}
