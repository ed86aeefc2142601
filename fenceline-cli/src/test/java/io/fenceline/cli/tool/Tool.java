package io.fenceline.cli.tool;

import com.google.errorprone.annotations.MustBeClosed;
import io.fenceline.Fenceline;
import io.fenceline.testkit.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The real command, started as a user starts it, with a home folder and a store of its own. */
public final class Tool {
  public static final Path DIST = Path.of(System.getProperty("fenceline.dist", "target/dist"));
  public static final Path LAUNCHER = DIST.toAbsolutePath().resolve("bin/fenceline");
  public static final Duration PATIENCE = Duration.ofMinutes(2);

  public final Path folder;
  public final Map<String, String> environment = new HashMap<>();
  public Path launcher = LAUNCHER;
  private int count;

  public Tool(Path folder) {
    this.folder = folder;
    environment.put("HOME", folder.resolve("home").toString());
    environment.put("FENCELINE_STORE", "sqlite:" + folder.resolve("locks.db"));
  }

  /** What a call has left. */
  public record Result(int code, String out, String err) {
    public String line() {
      return out.strip();
    }
  }

  /** A call that runs. */
  public static final class Call {
    public final Process process;
    private final Path out;
    private final Path err;

    Call(Process process, Path out, Path err) {
      this.process = process;
      this.out = out;
      this.err = err;
    }

    public Result await() {
      return await(PATIENCE);
    }

    public Result await(Duration patience) {
      try {
        if (!process.waitFor(patience.toSeconds(), TimeUnit.SECONDS)) {
          process.destroyForcibly();
          throw new AssertionError("still running; stderr: " + Files.readString(err));
        }
        return new Result(process.exitValue(), Files.readString(out), Files.readString(err));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }

    /** Waits until the command under the lock has printed a line. */
    public String firstLine() {
      String printed =
          Eventually.until(
              PATIENCE,
              "the command to print a line",
              () -> {
                boolean ended = !process.isAlive();
                String now = Files.readString(out);
                return ended && !now.contains("\n") ? "ended\n" : now;
              },
              s -> s.contains("\n"));
      if (printed.equals("ended\n")) {
        throw new AssertionError("it printed nothing: " + await());
      }
      return printed;
    }

    public String out() throws IOException {
      return Files.readString(out);
    }

    public String err() throws IOException {
      return Files.readString(err);
    }

    public void signal(String name) throws Exception {
      Tool.signal(name, process.pid());
    }
  }

  public static void signal(String name, long pid) throws Exception {
    Process kill = new ProcessBuilder("kill", "-s", name, String.valueOf(pid)).start();
    if (kill.waitFor() != 0) {
      throw new AssertionError("can't send " + name + " to " + pid);
    }
  }

  public Call start(String... args) {
    return start(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()), args);
  }

  public synchronized Call start(ProcessBuilder.Redirect stdin, String... args) {
    // A build that was started with nohup hands on that HUP is ignored, which nobody could trap.
    List<String> command =
        new ArrayList<>(List.of("env", "--default-signal=HUP,INT,TERM", launcher.toString()));
    command.addAll(List.of(args));
    Path out = folder.resolve("out-" + count);
    Path err = folder.resolve("err-" + count++);
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectInput(stdin)
            .redirectOutput(out.toFile())
            .redirectError(err.toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("FENCELINE_"));
    builder.environment().keySet().removeIf(name -> name.startsWith("XDG_"));
    builder.environment().putAll(environment);
    try {
      return new Call(builder.start(), out, err);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public Result run(String... args) {
    return start(args).await();
  }

  /** Whether another client gets the lock at once; asked from here, without a process for it. */
  public boolean isFree(String name) {
    try (Fenceline client = client()) {
      return client
          .lock(name)
          .tryAcquire()
          .map(
              hold -> {
                hold.release();
                return true;
              })
          .orElse(false);
    }
  }

  /** How many wait for locks of the store, or of the one with this name. */
  public int waiters(String prefix) {
    try (Fenceline client = client()) {
      return client.list(prefix, 100).stream().mapToInt(report -> report.waiters().size()).sum();
    }
  }

  /** A client of the same store in this JVM. */
  @MustBeClosed
  public Fenceline client() {
    return Fenceline.builder()
        .store(environment.get("FENCELINE_STORE"))
        .connectTimeout(Duration.ofMinutes(1))
        .connect();
  }

  private Process served;
  private Map<String, String> servedEnvironment = Map.of();

  /**
   * As {@link #run}, in a JVM that does this for all calls of this object with one environment; for
   * calls of which only what they print, and their exit code, is looked at.
   */
  public synchronized Result runInOneJvm(String... args) {
    if (!environment.equals(servedEnvironment)) {
      close();
    }
    try {
      if (served == null) {
        servedEnvironment = Map.copyOf(environment);
        Path lib = DIST.toAbsolutePath().resolve("lib");
        ProcessBuilder builder =
            new ProcessBuilder(
                    "java",
                    "-XX:SharedArchiveFile=" + lib.resolve("all.jsa"),
                    "-Xshare:auto",
                    "-Xlog:disable",
                    "-XX:TieredStopAtLevel=1",
                    "-XX:+UseG1GC",
                    "-Xmx256m",
                    "-Dio.netty.allocator.type=unpooled",
                    "-Dfile.encoding=UTF-8",
                    "-Dorg.sqlite.lib.path=" + lib.resolve("native"),
                    "-Dorg.sqlite.lib.name=libsqlitejdbc.so",
                    "-Duser.home=" + environment.get("HOME"),
                    "-Dfenceline.home=" + DIST.toAbsolutePath(),
                    "-cp",
                    lib.resolve("all.jar") + ":" + Path.of("target/test-classes").toAbsolutePath(),
                    ServedCalls.class.getName())
                .directory(folder.toFile())
                .redirectError(folder.resolve("served-err").toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("FENCELINE_"));
        builder.environment().keySet().removeIf(name -> name.startsWith("XDG_"));
        builder.environment().putAll(environment);
        builder.environment().put("LC_ALL", "C.UTF-8");
        served = builder.start();
      }
      Path file = folder.resolve("call-" + count++);
      StringBuilder words = new StringBuilder();
      for (String arg : args) {
        words.append(arg).append('\0');
      }
      Files.writeString(file, words.toString());
      served.getOutputStream().write((file + "\n").getBytes(StandardCharsets.UTF_8));
      served.getOutputStream().flush();
      String code = served.inputReader(StandardCharsets.UTF_8).readLine();
      if (code == null) {
        throw new AssertionError(Files.readString(folder.resolve("served-err")));
      }
      return new Result(Integer.parseInt(code), read(file, ".out"), read(file, ".err"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String read(Path file, String ending) throws IOException {
    return Files.readString(file.resolveSibling(file.getFileName() + ending));
  }

  /** Ends the JVM of {@link #runInOneJvm}. */
  public synchronized void close() {
    if (served != null) {
      served.destroyForcibly();
      served = null;
    }
  }

  /** The environment that a process was started with; empty if it is gone. */
  public static String environment(long pid) {
    try {
      return new String(Files.readAllBytes(Path.of("/proc/" + pid + "/environ")));
    } catch (IOException e) {
      return "";
    }
  }

  /** The words that a process was started with, with blanks between them. */
  public static String commandLine(long pid) {
    try {
      String words = Files.readString(Path.of("/proc/" + pid + "/cmdline"));
      return words.replace('\0', ' ').strip();
    } catch (IOException e) {
      return "";
    }
  }

  /** Whether a process is there and not a zombie. */
  public static boolean lives(long pid) {
    try {
      String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
      return stat.charAt(stat.lastIndexOf(')') + 2) != 'Z';
    } catch (IOException e) {
      return false;
    }
  }
}
