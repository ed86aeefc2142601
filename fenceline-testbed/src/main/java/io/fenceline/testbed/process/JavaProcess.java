package io.fenceline.testbed.process;

import io.fenceline.testkit.Eventually;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Another JVM that runs a main class of the test's class path and talks to the test in lines.
 *
 * <pre>{@code
 * try (JavaProcess worker = JavaProcess.of(Worker.class).argument(redis.uri()).start()) {
 *   worker.send("acquire ledger");
 *   worker.expect("acquired", Duration.ofSeconds(10));
 *   worker.pause();
 * }
 * }</pre>
 *
 * <p>The other side reads its standard input and prints to its standard output; what it prints to
 * standard error goes to a file that every error shows the end of. {@link #send}, {@link #expect}
 * and {@link #expectAll} are for one thread, the rest for any.
 */
public final class JavaProcess implements AutoCloseable {
  private static final Duration PAUSE_BOUND = Duration.ofSeconds(30);

  private final String name;
  private final TempFolder folder;
  private final Path errors;
  private final @Nullable FakeTime fakeTime;
  private final OwnedProcess process;
  // Not bounded: a test that does not listen must not stop the other side.
  private final BlockingQueue<Line> lines = new LinkedBlockingQueue<>();

  /** A line of the other side, or the end of its output. */
  private record Line(String text, boolean isEnd) {}

  private JavaProcess(Builder options) {
    this.name = options.mainClass;
    this.folder = TempFolder.create("java");
    this.errors = folder.path().resolve("stderr");
    this.fakeTime = options.fakeTime ? new FakeTime(folder.path()) : null;
    List<String> command =
        JavaCommand.of(options.mainClass, options.heapMegabytes, options.jvmOptions);
    command.addAll(options.arguments);
    ProcessBuilder builder =
        new ProcessBuilder(fakeTime == null ? command : fakeTime.wrap(command))
            .redirectError(errors.toFile());
    this.process = OwnedProcess.start(builder, RunAs.self());
    Thread reader = new Thread(this::readLines, "fenceline-testbed-reader-" + process.pid());
    reader.setDaemon(true);
    reader.start();
  }

  public static Builder of(Class<?> mainClass) {
    return new Builder(mainClass.getName());
  }

  private void readLines() {
    try (BufferedReader reader = process.process().inputReader(StandardCharsets.UTF_8)) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        lines.add(new Line(line, false));
      }
    } catch (IOException e) {
      // Closed under our hands; the end is the end.
    } finally {
      lines.add(new Line("", true));
    }
  }

  /** Sends a line to the standard input of the other side. */
  public void send(String line) {
    try {
      process.process().getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
      process.process().getOutputStream().flush();
    } catch (IOException e) {
      throw new UncheckedIOException(this + " does not listen" + errorTail(), e);
    }
  }

  /**
   * Waits for a line that starts with {@code start} and returns it; passes over others.
   *
   * @throws AssertionError if there is none within {@code bound} or before the other side ends; it
   *     shows the lines passed over
   */
  public String expect(String start, Duration bound) {
    return expectAll(bound, start).get(0);
  }

  /**
   * Waits for one line for each of {@code starts}, in whatever order they come: two threads of the
   * other side may print them. Passes over other lines.
   *
   * @return the lines, in the order of {@code starts}
   * @throws AssertionError as {@link #expect}
   */
  public List<String> expectAll(Duration bound, String... starts) {
    Map<String, String> found = new HashMap<>();
    List<String> others = new ArrayList<>();
    long end = System.nanoTime() + bound.toNanos();
    while (found.size() < starts.length) {
      List<String> missing = Stream.of(starts).filter(start -> !found.containsKey(start)).toList();
      Line line = next(end - System.nanoTime());
      if (line == null || line.isEnd) {
        throw new AssertionError(
            "%s did not print '%s' %s (printed instead: %s)%s"
                .formatted(
                    this,
                    String.join("', '", missing),
                    line == null ? "within " + bound : "before it ended",
                    others,
                    errorTail()));
      }
      missing.stream()
          .filter(line.text::startsWith)
          .findFirst()
          .ifPresentOrElse(start -> found.put(start, line.text), () -> others.add(line.text));
    }
    return Stream.of(starts).map(found::get).toList();
  }

  /** The next line or the end, null if there is neither in time. */
  private @Nullable Line next(long nanos) {
    try {
      Line line = lines.poll(nanos, TimeUnit.NANOSECONDS);
      if (line != null && line.isEnd) {
        lines.add(line); // whoever asks again shall see the end, too
      }
      return line;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new HarnessException("Interrupted while reading from " + this, e);
    }
  }

  /** The lines that are there and that no {@link #expect} or {@link #expectAll} has taken. */
  public List<String> pendingLines() {
    return lines.stream().filter(line -> !line.isEnd).map(Line::text).toList();
  }

  public long pid() {
    return process.pid();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** What the kernel says of the process: the proof of a pause or a kill. */
  public ProcessState state() {
    return process.state();
  }

  /**
   * Sends SIGSTOP; returns when the kernel shows the process as stopped.
   *
   * <p>It stops at a moment at which it keeps nobody out of a file: one that stands still in the
   * middle of a transaction of SQLite keeps everybody out, however long, and then nothing else can
   * be seen.
   */
  public void pause() {
    Eventually.until(
        PAUSE_BOUND,
        this + " to be stopped while it has no file locked",
        () -> {
          process.pause();
          boolean inTheWay = FileLocks.isWriterAnywhere(process.pid());
          if (inTheWay) {
            process.resume();
          }
          return !inTheWay;
        });
  }

  /** As {@link #pause}, but wherever it is, also in the middle of writing to a file. */
  public void pauseAnywhere() {
    process.pause();
  }

  /** Sends SIGCONT; returns when the process is no longer stopped. */
  public void resume() {
    process.resume();
  }

  /** Sends SIGKILL; returns when the process is gone. */
  public void kill() {
    process.kill();
  }

  /** Sends SIGTERM and returns at once: the other side may run its shutdown hooks. */
  public void terminate() {
    process.signal("TERM");
  }

  /** Waits for the process to end by itself and returns its status. */
  public int awaitExit(Duration bound) {
    Eventually.until(bound, this + " to end", () -> !process.isAlive());
    return process.process().exitValue();
  }

  /**
   * Sets the process's wall clock to this much ahead of the machine's (negative: behind).
   *
   * @throws IllegalStateException if it was not started with a clock that can be set
   */
  public void clockOffset(Duration ahead) {
    FakeTime clock = fakeTime;
    if (clock == null) {
      throw new IllegalStateException(this + " runs on the machine's clock: ask for fakeTime()");
    }
    clock.offset(ahead);
  }

  /** The end of what the process printed to its standard error. */
  public String errors() {
    return LogTail.of(errors);
  }

  private String errorTail() {
    return System.lineSeparator() + errors();
  }

  /** Kills the process and deletes its files. */
  @Override
  public void close() {
    Closing.all(List.of(process::kill, folder::close));
  }

  @Override
  public String toString() {
    return name + " (pid " + process.pid() + ")";
  }

  /** What a process is started with. */
  public static final class Builder {

    private final String mainClass;
    private final List<String> arguments = new ArrayList<>();
    private final List<String> jvmOptions = new ArrayList<>();
    private int heapMegabytes = 128;
    private boolean fakeTime;

    private Builder(String mainClass) {
      this.mainClass = mainClass;
    }

    public Builder argument(String argument) {
      arguments.add(argument);
      return this;
    }

    /** Adds an option of the JVM, such as {@code -Dname=value}. */
    public Builder jvmOption(String option) {
      jvmOptions.add(option);
      return this;
    }

    /** Sets the largest heap, 128 MB if not told otherwise. */
    public Builder heap(int megabytes) {
      this.heapMegabytes = megabytes;
      return this;
    }

    /** Gives the process a wall clock that can be set: see {@link JavaProcess#clockOffset}. */
    public Builder fakeTime() {
      this.fakeTime = true;
      return this;
    }

    /** Starts the process; returns at once. */
    public JavaProcess start() {
      return new JavaProcess(this);
    }
  }
}
