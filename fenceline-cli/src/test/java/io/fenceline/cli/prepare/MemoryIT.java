package io.fenceline.cli.prepare;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.cli.tool.Tool;
import io.fenceline.cli.tool.Tool.Call;
import io.fenceline.testkit.Eventually;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What fifty waiting runs cost is decided by what they share, and by what each gives back. */
class MemoryIT {
  private static final int MOST_OWN_KILOBYTES = 8_000;
  private static final Pattern REGION =
      Pattern.compile("^[0-9a-f]+-[0-9a-f]+ .*$", Pattern.MULTILINE);
  private static final Pattern OWN = Pattern.compile("Private_Dirty: +([0-9]+) kB");

  @TempDir Path folder;

  /** How much of the archive of classes a process has for itself. */
  private static int ownKilobytesOfTheArchive(long pid) throws Exception {
    String maps = Files.readString(Path.of("/proc/" + pid + "/smaps"));
    int own = 0;
    boolean found = false;
    boolean isOfArchive = false;
    for (String line : maps.lines().toList()) {
      if (REGION.matcher(line).matches()) {
        isOfArchive = line.endsWith("/sqlite.jsa");
        found |= isOfArchive;
      }
      Matcher dirty = OWN.matcher(line);
      if (isOfArchive && dirty.matches()) {
        own += Integer.parseInt(dirty.group(1));
      }
    }
    assertThat(found).as("the archive is mapped").isTrue();
    return own;
  }

  @Test
  void aWaitingRun_sharesTheArchiveOfClasses_andHasCollectedWhatItsStartLeft() throws Exception {
    Tool tool = new Tool(folder);
    Call holder = tool.start("run", "job", "-c", "echo in; exec sleep 1000");
    holder.firstLine();
    Path log = folder.resolve("gc");
    tool.environment.put("FENCELINE_JAVA_OPTS", "-Xlog:gc:file=" + log);
    Call waiter = tool.start("run", "job", "--", "true");

    Eventually.until(
        Tool.PATIENCE,
        "the waiter to collect its garbage",
        () -> Files.readString(log).contains("(System.gc())"));

    assertThat(ownKilobytesOfTheArchive(waiter.process.pid())).isLessThan(MOST_OWN_KILOBYTES);
    waiter.signal("TERM");
    assertThat(waiter.await().code()).isEqualTo(143);
    holder.signal("TERM");
    assertThat(holder.await().code()).isEqualTo(143);
  }
}
