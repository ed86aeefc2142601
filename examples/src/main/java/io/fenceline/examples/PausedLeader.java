package io.fenceline.examples;

import io.fenceline.testbed.process.JavaProcess;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** What does a leader do that was paused, and does not know that another one leads? */
public final class PausedLeader {
  static final Duration LEASE = Duration.ofSeconds(2);

  private static final Duration AMPLE = Duration.ofMinutes(2);

  private PausedLeader() {}

  /** Runs it. */
  public static void main(String[] arguments) throws IOException {
    run(System.out);
  }

  static void run(PrintStream out) throws IOException {
    try (Scratch scratch = Scratch.create();
        JavaProcess a = instance(scratch, "A");
        JavaProcess b = instance(scratch, "B")) {
      a.expect("ready", AMPLE);
      b.expect("ready", AMPLE);
      a.send("campaign");
      long termOfA = term(a.expect("leads", AMPLE));
      b.send("campaign");
      out.println("Two instances campaign to write the report; A leads.");

      a.pause();
      long termOfB = term(b.expect("leads", AMPLE));
      b.send("write");
      b.expect("open: written, fenced: written", AMPLE);
      out.println("A is paused. At the end of its lease B leads, and writes its report.");
      out.println("B's term is larger than A's: " + (termOfB > termOfA));

      a.resume();
      a.send("write");
      String said = a.expect("open:", AMPLE);
      out.println("A wakes up, ignores that it was interrupted, and writes. " + said);
      out.println("Without the term: the report is by " + report(scratch, "open") + ".");
      out.println("With the term:    the report is by " + report(scratch, "fenced") + ".");
    }
  }

  private static JavaProcess instance(Scratch scratch, String name) {
    return JavaProcess.of(Reporter.class)
        .argument(scratch.locks())
        .argument(scratch.folder().toString())
        .argument(name)
        .jvmOption("-Dorg.slf4j.simpleLogger.defaultLogLevel=error")
        .heap(48)
        .start();
  }

  private static long term(String line) {
    return Long.parseLong(line.substring("leads ".length()));
  }

  private static String report(Scratch scratch, String name) throws IOException {
    return Files.readString(Path.of(scratch.folder().toString(), name));
  }
}
