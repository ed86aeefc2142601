package io.fenceline.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.cli.tool.Tool;
import io.fenceline.cli.tool.Tool.Call;
import io.fenceline.cli.tool.Tool.Result;
import io.fenceline.testbed.proxy.Direction;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * However a run ends early, nobody of it is alive when the next one starts: whatever process groups
 * its command has made, with a terminal and without.
 */
class SurvivorIT {
  /** Long enough for twelve JVMs that start at once on a busy machine. */
  private static final String[] LEASE = {"--lease", "30s", "--grace", "2s"};

  /** For tests that wait for its end. */
  private static final String[] SHORT_LEASE = {"--lease", "12s", "--grace", "3s"};

  private static final int GROUP = 2;

  @TempDir Path folder;
  private Tool tool;
  private String[] lease = SHORT_LEASE;
  private final Map<Family, CompletableFuture<String>> seconds = new EnumMap<>(Family.class);
  private Fenceline next;

  @BeforeEach
  void start() {
    tool = new Tool(folder);
  }

  @AfterEach
  void close() {
    if (next != null) {
      next.close();
      next = null;
    }
  }

  @AfterEach
  void clean() throws Exception {
    for (Family family : Family.values()) {
      family.clean(folder);
    }
  }

  /** What happens to the first run of each. */
  private interface Event {
    void happen(Family family, long firstTool) throws Exception;
  }

  private static void sigterm(Family family, long firstTool) throws Exception {
    Tool.signal("TERM", firstTool);
  }

  private static void sigkill(Family family, long firstTool) throws Exception {
    Tool.signal("KILL", firstTool);
  }

  private void sigkillGuard(Family family, long firstTool) throws Exception {
    // The guard of a run inside the run is younger.
    long guard =
        ProcessHandle.allProcesses()
            .map(ProcessHandle::pid)
            .filter(pid -> isGuard(pid, family))
            .min(Long::compare)
            .orElseThrow(() -> new AssertionError("no guard of " + family));
    Tool.signal("KILL", guard);
  }

  /** In a terminal the guard has become the command, and its keeper waits for that. */
  private boolean isGuard(long pid, Family family) {
    String line = Tool.commandLine(pid);
    boolean isLeader = stat(pid, GROUP).equals(String.valueOf(pid));
    return line.endsWith(" " + family.lock() + ".sh")
        && (line.matches("sh [^ ]*/terminal\\.sh .*")
            || (line.matches("sh [^ ]*/guard\\.sh .*") && isLeader))
        && Tool.environment(pid).contains(folder.toString());
  }

  /** A field of /proc/PID/stat, counted from the state as 0. */
  private static String stat(long pid, int field) {
    try {
      String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
      return stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[field];
    } catch (IOException e) {
      return "";
    }
  }

  // Without a terminal. -------------------------------------------------------------------------

  private Map<Family, Call> startFirst() throws Exception {
    Map<Family, Call> calls = new EnumMap<>(Family.class);
    for (Family family : Family.values()) {
      List<String> words = new ArrayList<>(List.of("run", family.lock()));
      words.addAll(List.of(lease));
      words.add("--connect-timeout=60s");
      words.add("--");
      words.addAll(family.command(folder));
      calls.put(family, tool.start(words.toArray(String[]::new)));
    }
    for (Family family : Family.values()) {
      family.await(folder);
    }
    return calls;
  }

  /**
   * Waits in the queue behind each first one, or has the lock already if the first has not kept it;
   * with the lock it looks for whoever is alive. A client of this JVM looks sooner than a process.
   */
  @SuppressWarnings("MustBeClosedChecker")
  private void startSecond() {
    next = tool.client();
    for (Family family : Family.values()) {
      seconds.put(
          family,
          next.lock(family.lock()).acquireAsync().thenApplyAsync(hold -> look(hold, family)));
    }
    Eventually.until(
        Tool.PATIENCE,
        "the second ones to queue",
        () ->
            seconds.entrySet().stream()
                .allMatch(e -> e.getValue().isDone() || tool.waiters(e.getKey().lock()) == 1));
  }

  private String look(Hold hold, Family family) {
    try (hold) {
      Process shell =
          new ProcessBuilder("sh", "-c", family.look()).directory(folder.toFile()).start();
      return new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void assertNobodyWasAlive() throws Exception {
    Map<Family, String> seen = new EnumMap<>(Family.class);
    for (Map.Entry<Family, CompletableFuture<String>> second : seconds.entrySet()) {
      long seconds = Tool.PATIENCE.toSeconds();
      seen.put(second.getKey(), second.getValue().get(seconds, TimeUnit.SECONDS));
    }
    close(); // Before its server.
    assertThat(seen).allSatisfy((family, out) -> assertThat(out).isEqualTo("second\n"));
  }

  private void endEach(Event event) throws Exception {
    Map<Family, Call> firsts = startFirst();
    startSecond();
    for (Map.Entry<Family, Call> first : firsts.entrySet()) {
      Call call = first.getValue();
      assertThat(call.process.isAlive()).as(first.getKey() + ": " + call.err()).isTrue();
      event.happen(first.getKey(), call.process.pid());
    }
    assertNobodyWasAlive();
    for (Call first : firsts.values()) {
      assertThat(first.await().code()).isNotZero();
    }
  }

  @Test
  void aToolThatGotTerm() throws Exception {
    lease = LEASE;
    endEach(SurvivorIT::sigterm);
  }

  @Test
  void aToolThatGotKill() throws Exception {
    endEach(SurvivorIT::sigkill);
  }

  @Test
  void aGuardThatGotKill() throws Exception {
    lease = LEASE;
    endEach(this::sigkillGuard);
  }

  @Test
  void aLockThatIsLost() throws Exception {
    try (RedisServer redis = RedisServer.start();
        FaultProxy proxy = FaultProxy.to(redis.host(), redis.port(), Protocol.RESP)) {
      tool.environment.put("FENCELINE_STORE", "redis://" + proxy.address());
      Map<Family, Call> firsts = startFirst();
      tool.environment.put("FENCELINE_STORE", redis.uri());
      startSecond();
      proxy.blackHole(Direction.TO_SERVER);
      assertNobodyWasAlive();
      for (Call first : firsts.values()) {
        Result result = first.await();
        assertThat(result.code()).as(result.toString()).isEqualTo(79);
      }
    }
  }

  // In a terminal. ------------------------------------------------------------------------------

  private Map<Family, Long> startFirst(Screen screen) throws Exception {
    for (Family family : Family.values()) {
      String window = family.lock();
      screen.open(window);
      String command = String.join(" ", family.command(folder));
      screen.type(
          window,
          Tool.LAUNCHER
              + " run "
              + family.lock()
              + " "
              + String.join(" ", lease)
              + " --connect-timeout=60s -- "
              + command);
    }
    Map<Family, Long> tools = new EnumMap<>(Family.class);
    for (Family family : Family.values()) {
      family.await(folder);
      tools.put(
          family,
          ProcessHandle.allProcesses()
              .map(ProcessHandle::pid)
              .filter(pid -> Tool.commandLine(pid).contains("cli.Main run " + family.lock() + " "))
              .filter(pid -> Tool.environment(pid).contains(folder.toString()))
              .findFirst()
              .orElseThrow(() -> new AssertionError("the tool of " + family + " has ended")));
    }
    return tools;
  }

  private static void assertShellsLive(Screen screen) throws Exception {
    for (Family family : Family.values()) {
      screen.type(family.lock(), "echo al'ive'");
      screen.await(family.lock(), "\nalive");
    }
  }

  private void endEach(String sh, Event event) throws Exception {
    try (Screen screen = new Screen(folder, sh, "sqlite:" + folder.resolve("locks.db"));
        AutoCloseable survivors = this::clean) {
      Map<Family, Long> firsts = startFirst(screen);
      startSecond();
      for (Map.Entry<Family, Long> first : firsts.entrySet()) {
        event.happen(first.getKey(), first.getValue());
      }
      assertNobodyWasAlive();
      assertShellsLive(screen);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = "dash")
  void inATerminal_aToolThatGotTerm(String sh) throws Exception {
    lease = LEASE;
    endEach(sh, SurvivorIT::sigterm);
  }

  @ParameterizedTest
  @ValueSource(strings = "bash")
  void inATerminal_aToolThatGotKill(String sh) throws Exception {
    endEach(sh, SurvivorIT::sigkill);
  }

  @ParameterizedTest
  @ValueSource(strings = {"dash", "bash"})
  void inATerminal_aGuardThatGotKill(String sh) throws Exception {
    lease = LEASE;
    endEach(sh, this::sigkillGuard);
  }

  @Test
  void inATerminal_aLockThatIsLost() throws Exception {
    try (RedisServer redis = RedisServer.start();
        FaultProxy proxy = FaultProxy.to(redis.host(), redis.port(), Protocol.RESP);
        Screen screen = new Screen(folder, "dash", "redis://" + proxy.address());
        AutoCloseable survivors = this::clean) {
      startFirst(screen);
      tool.environment.put("FENCELINE_STORE", redis.uri());
      startSecond();
      proxy.blackHole(Direction.TO_SERVER);
      assertNobodyWasAlive();
      assertShellsLive(screen);
    }
  }
}
