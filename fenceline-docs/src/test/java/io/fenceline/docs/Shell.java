package io.fenceline.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs commands of a page one after the other in one shell, as a new user would: with an empty home
 * folder, in a folder that looks like the clone. For one use.
 */
final class Shell {
  /** What a command has left. */
  record Result(String command, int code, String output) {}

  private static final long PATIENCE_SECONDS = 120;

  private final Path home;
  private final Path clone;
  private final Path outputs;
  private final List<Path> links = new ArrayList<>();

  Shell(Path folder) throws IOException {
    home = Files.createDirectories(folder.resolve("home"));
    clone = Files.createDirectories(folder.resolve("clone"));
    outputs = Files.createDirectories(folder.resolve("outputs"));
    // What a page may name. Nothing that a command writes lands in the real clone.
    for (String name : List.of("fenceline", "check", "docs", "examples", "pom.xml")) {
      Path real = Repository.ROOT.resolve(name);
      if (Files.exists(real)) {
        links.add(Files.createSymbolicLink(clone.resolve(name), real));
      }
    }
  }

  List<Result> run(List<String> commands) throws Exception {
    StringBuilder script = new StringBuilder();
    for (int i = 0; i < commands.size(); i++) {
      script.append("{\n%s\n} >%s/%d 2>&1\n".formatted(commands.get(i), outputs, i));
      script.append("echo $? >%s/%d.code\n".formatted(outputs, i));
    }
    // A build that was started with nohup hands on that HUP is ignored, which nobody could trap.
    ProcessBuilder builder =
        new ProcessBuilder("env", "--default-signal=HUP,INT,TERM", "bash", "-c", script.toString())
            .directory(clone.toFile())
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectErrorStream(true)
            .redirectOutput(outputs.resolve("shell").toFile());
    builder
        .environment()
        .keySet()
        .removeIf(name -> name.startsWith("FENCELINE_") || name.startsWith("XDG_"));
    builder.environment().put("HOME", home.toString());
    builder.environment().put("LC_ALL", "C.UTF-8");
    builder.environment().put("PATH", clone + ":" + System.getenv("PATH"));
    // The launcher would build what this build has just built.
    builder.environment().put("FENCELINE_NO_BUILD", "1");
    Process bash = builder.start();
    try {
      if (!bash.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        throw new AssertionError("still running after %d s".formatted(PATIENCE_SECONDS));
      }
    } finally {
      bash.descendants().forEach(ProcessHandle::destroy);
      bash.destroyForcibly();
      for (Path link : links) {
        Files.delete(link);
      }
    }
    List<Result> results = new ArrayList<>();
    for (int i = 0; i < commands.size(); i++) {
      Path code = outputs.resolve(i + ".code");
      if (!Files.exists(code)) {
        throw new AssertionError(
            "bash did not understand: " + Repository.read(outputs.resolve("shell")));
      }
      results.add(
          new Result(
              commands.get(i),
              Integer.parseInt(Repository.read(code).strip()),
              Repository.read(outputs.resolve(String.valueOf(i)))));
    }
    return results;
  }
}
