package io.fenceline.testbed.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Error Prone stops code that forgets to close a hold, or to look at what a try gave. */
class ForgottenHoldsTest {
  private static final List<String> OPENED =
      List.of("api", "file", "main", "model", "parser", "processing", "tree", "util");

  @TempDir Path folder;

  /** Compiles methods of one statement each with Error Prone, and gives what the compiler says. */
  private String compile(List<String> statements) throws IOException, InterruptedException {
    StringBuilder methods = new StringBuilder();
    for (int i = 0; i < statements.size(); i++) {
      methods.append(
          "void use%d(FencedLock lock, FencedSemaphore semaphore) throws Exception { %s }%n"
              .formatted(i, statements.get(i)));
    }
    Path source = folder.resolve("Use.java");
    Files.writeString(
        source,
        "import io.fenceline.*; import java.time.Duration; import java.util.Optional; class Use {\n"
            + methods
            + "}\n");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "javac").toString());
    // It runs for a moment: the second compiler would cost more than it gives.
    command.addAll(List.of("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"));
    for (String part : OPENED) {
      command.add("-J--add-exports=jdk.compiler/com.sun.tools.javac." + part + "=ALL-UNNAMED");
    }
    command.add("-J--add-opens=jdk.compiler/com.sun.tools.javac.code=ALL-UNNAMED");
    command.add("-J--add-opens=jdk.compiler/com.sun.tools.javac.comp=ALL-UNNAMED");
    command.addAll(
        List.of(
            "-XDcompilePolicy=simple",
            "--should-stop=ifError=FLOW",
            "-Xplugin:ErrorProne",
            "-processorpath",
            Sources.classPath(),
            "-classpath",
            Sources.classPath(),
            "-d",
            folder.toString(),
            source.toString()));
    Path output = folder.resolve("javac.out");
    Process javac =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    assertThat(javac.waitFor(120, TimeUnit.SECONDS)).as("javac ended").isTrue();
    return javac.exitValue() + "\n" + Files.readString(output, StandardCharsets.UTF_8);
  }

  /** Each wrong statement has an error of its own, in its own line. */
  private void areErrors(String check, List<String> statements) throws Exception {
    String output = compile(statements);

    assertThat(output).startsWith("1\n");
    for (int i = 0; i < statements.size(); i++) {
      assertThat(output)
          .as("what is said of: %s", statements.get(i))
          .contains("Use.java:" + (i + 2) + ": error: [" + check + "]");
    }
  }

  @Test
  void holdsThatAreNotClosed_areErrors() throws Exception {
    areErrors(
        "MustBeClosedChecker",
        List.of(
            "Hold hold = lock.acquire(Duration.ofSeconds(1));",
            "lock.acquire(Duration.ofSeconds(1));",
            "PermitHold hold = semaphore.acquire(Duration.ofSeconds(1));",
            "try (Hold h = lock.acquire(Duration.ZERO)) { Hold again = h.reenter(); }",
            "Fenceline client = Fenceline.connect(\"memory:\");"));
  }

  @Test
  void triesThatAreNotLookedAt_areErrors() throws Exception {
    areErrors(
        "CheckReturnValue",
        List.of(
            "lock.tryAcquire();",
            "lock.tryAcquireAsync();",
            "lock.acquireAsync(Duration.ZERO);",
            "semaphore.tryAcquire();"));
  }

  @Test
  void whatIsClosedAndLookedAt_isFine() throws Exception {
    String output =
        compile(
            List.of(
                "try (Hold h = lock.acquire(Duration.ZERO)) { System.out.println(h); }",
                "Optional<Hold> hold = lock.tryAcquire(); System.out.println(hold);"));

    assertThat(output).startsWith("0\n");
  }
}
