package io.fenceline.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.cli.run.ProcessTable.Entry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who counts as alive, with a made-up /proc. */
class RunProcessesTest {
  private static final String MARK = "0123abc.";
  private static final long GUARD = 500;
  private static final long OWN = ProcessHandle.current().pid();

  @TempDir Path proc;
  private final List<String> sent = new ArrayList<>();
  private final Set<Long> unseen = new HashSet<>();
  private boolean session = true;

  @BeforeEach
  void init() throws IOException {
    process(1, 0, 1, 1, 1);
    process(OWN, 1, 300, 300, 50);
    process(GUARD, 1, GUARD, GUARD, 100);
  }

  private void process(long pid, long parent, long group, long ofSession, long started)
      throws IOException {
    Path folder = Files.createDirectories(proc.resolve(Long.toString(pid)));
    Files.writeString(
        folder.resolve("stat"),
        "%d (a ) b) S %d %d %d 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0%n"
            .formatted(pid, parent, group, ofSession, started));
    Files.writeString(folder.resolve("environ"), "A=b\0");
  }

  private void environment(long pid, String text) throws IOException {
    Files.writeString(proc.resolve(pid + "/environ"), text);
  }

  private void end(long pid) throws IOException {
    for (String file : List.of("stat", "environ", "task/" + pid + "/children")) {
      Files.deleteIfExists(proc.resolve(pid + "/" + file));
    }
    Files.deleteIfExists(proc.resolve(pid + "/task/" + pid));
    Files.deleteIfExists(proc.resolve(pid + "/task"));
    Files.delete(proc.resolve(Long.toString(pid)));
  }

  private RunProcesses run() throws IOException {
    Entry guard = Entry.parse(Files.readString(proc.resolve(GUARD + "/stat")));
    return new RunProcesses(
        new ProcessTable(proc),
        MARK,
        guard,
        session ? 0 : 400,
        (signal, targets, members) -> {
          sent.add(signal + " " + targets);
          Set<Long> existing = new HashSet<>(targets);
          existing.retainAll(unseen);
          return existing;
        });
  }

  @Test
  void aProcThatCanNotBeRead_isNotAProcWithoutProcesses() throws Exception {
    RunProcesses run = run();
    end(GUARD);
    assertThat(run.send("KILL").isNobody()).isTrue();
    end(OWN);
    assertThat(run.send("KILL").isNobody()).as("of others").isFalse();
    end(1);
    assertThat(run.send("KILL").isNobody()).as("empty").isFalse();
    Files.delete(proc);
    assertThat(run.send("KILL").isNobody()).as("not there").isFalse();
  }

  @Test
  void whatIsFoundWithoutAskingAnybody_isToldFirst() throws Exception {
    session = false;
    process(400, 1, 300, GUARD, 90);
    process(600, 1, 600, GUARD, 120);
    environment(600, "X=1\0FENCELINE_RUN=outer. " + MARK + "\0");
    process(601, 600, 601, GUARD, 121);
    process(602, 1, 602, GUARD, 122);
    assertThat(run().send("TERM").ids()).containsExactly(GUARD, 600L, 601L);
    assertThat(sent).containsExactly("TERM [-500]", "TERM [600, 601]");
  }

  @Test
  void hiddenProcesses_countUntilTheKernelKnowsOfNone() throws Exception {
    end(1); // As hidepid does it.
    process(510, GUARD, 510, GUARD, 110); // timeout
    Files.createDirectories(proc.resolve("510/task/510"));
    Files.writeString(proc.resolve("510/task/510/children"), "520 ");
    RunProcesses run = run();
    assertThat(run.send("KILL").ids()).containsExactly(GUARD, 510L);
    end(GUARD);
    end(510);
    unseen.add(520L); // sudo, in a group of its own
    assertThat(run.send("KILL").ids()).containsExactly(520L);
    unseen.clear();
    unseen.add(-510L); // or in that of timeout
    assertThat(run.send("KILL").ids()).containsExactly(-510L);
    unseen.clear();
    assertThat(run.send("KILL").isNobody()).isTrue();
  }

  @Test
  void aSessionIdThatAnotherHas_doesNotMakeItsProcessesOurs() throws Exception {
    process(510, GUARD, 510, GUARD, 110);
    RunProcesses run = run();
    assertThat(run.send("TERM").ids()).containsExactly(GUARD, 510L);
    end(GUARD);
    assertThat(run.send("KILL").ids()).containsExactly(510L);
    end(510);
    process(700, 1, 700, GUARD, 5000); // The child of another process with the id of the guard.
    sent.clear();
    assertThat(run.send("KILL").isNobody()).isTrue();
    assertThat(sent).isEmpty();
    environment(700, "FENCELINE_RUN=" + MARK + "\0");
    assertThat(run.send("KILL").ids()).containsExactly(700L);
  }

  @Test
  void aGuardIdThatAnotherHas_meansThatNobodyIsLeft() throws Exception {
    RunProcesses run = run();
    end(GUARD);
    process(GUARD, 1, GUARD, GUARD, 5000);
    process(701, GUARD, GUARD, GUARD, 5001);
    assertThat(run.send("KILL").isNobody()).isTrue();
    assertThat(sent).isEmpty();
  }

  @Test
  void theWatchdogOfARunInside_isWaitedFor_andOneBeforeUsIsNot() throws Exception {
    RunProcesses run = run();
    end(GUARD);
    process(800, 1, 800, 800, 150);
    environment(800, "FENCELINE_WATCHES=outer. " + MARK + "\0");
    process(801, 1, 801, 801, 150);
    environment(801, "FENCELINE_WATCHES=x" + MARK + "\0");
    process(802, 1, 802, 802, 99);
    environment(802, "FENCELINE_WATCHES=" + MARK + "\0");
    assertThat(run.send("KILL").ids()).containsExactly(800L);
    assertThat(sent).isEmpty();
    Files.setAttribute(proc.resolve("800"), "unix:uid", 65_534);
    assertThat(run.send("KILL").isNobody()).as("a watchdog of a stranger").isTrue();
  }

  @Test
  void aProcessThatIsBecomingAnother_isLookedAtAgain() throws Exception {
    session = false;
    process(600, 1, 600, GUARD, 120);
    environment(600, "");
    RunProcesses run = run();
    end(GUARD);
    Thread exec =
        new Thread(
            () -> {
              try {
                environment(600, "FENCELINE_RUN=" + MARK + "\0");
              } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
              }
            });
    exec.start();
    assertThat(run.send("KILL").ids()).containsExactly(600L);
    exec.join();
  }
}
