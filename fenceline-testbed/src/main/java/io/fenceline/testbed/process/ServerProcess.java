package io.fenceline.testbed.process;

import io.fenceline.testkit.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A real server in a process of its own, on a port of the loopback interface that only it has.
 *
 * <p>Every method returns when its effect can be seen: a started server answers, a paused one is
 * shown as stopped by the kernel, a killed one is gone. Thread-safe; {@link #close} also while
 * another thread waits for a start.
 */
public abstract class ServerProcess implements AutoCloseable {

  // Long, because a test machine is busy; a server that dies earlier is noticed at once.
  private static final Duration START_BOUND = Duration.ofSeconds(60);
  private static final Duration STOP_BOUND = Duration.ofSeconds(20);

  private final String name;
  private final List<PortLease> ports;
  private final TempFolder folder;
  private final Path log;
  private final @Nullable FakeTime fakeTime;
  private final RunAs user;
  private volatile @Nullable OwnedProcess process;
  private volatile boolean closed;

  protected ServerProcess(String name, List<PortLease> ports, boolean fakeTime, RunAs user) {
    this(name, ports, fakeTime, user, false);
  }

  protected ServerProcess(
      String name, List<PortLease> ports, boolean fakeTime, RunAs user, boolean onDisk) {
    this.name = name;
    this.ports = List.copyOf(ports);
    this.folder = TempFolder.create(name, onDisk);
    user.own(folder.path());
    this.log = folder.path().resolve("log");
    this.fakeTime = fakeTime ? new FakeTime(folder.path()) : null;
    this.user = user;
  }

  protected static List<PortLease> takePorts(int count) {
    return Stream.generate(PortLease::take).limit(count).toList();
  }

  /** Writes what the server reads at its start; called once. */
  protected abstract void prepare() throws IOException;

  protected abstract List<String> command();

  /** Whether the server answers a request; an exception means no. */
  protected abstract boolean answers() throws IOException;

  /** The signal on which the server ends in good order at once. */
  protected String stopSignal() {
    return "TERM";
  }

  /** The first start; afterwards nothing is left behind if it fails. */
  public final void startFirst() {
    try {
      prepare();
      start();
    } catch (IOException e) {
      close();
      throw new UncheckedIOException(e);
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private synchronized void start() {
    if (closed) {
      throw new HarnessException("%s is closed".formatted(this));
    }
    FakeTime clock = fakeTime;
    OwnedProcess started =
        OwnedProcess.start(
            new ProcessBuilder(clock == null ? command() : clock.wrap(command()))
                .directory(folder.path().toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile())),
            user);
    process = started;
    if (closed) {
      started.kill(); // closed by another thread before it could see this process
    }
    try {
      Eventually.until(
          START_BOUND, this + " to answer", () -> !started.isAlive() || (!closed && answers()));
    } catch (AssertionError e) {
      throw new HarnessException(e.getMessage() + logTail(), e);
    }
    if (!started.isAlive()) {
      String message = "%s ended at its start".formatted(this) + logTail();
      throw portTaken() ? new PortTakenException(message) : new HarnessException(message);
    }
  }

  private boolean portTaken() {
    String tail = LogTail.of(log).toLowerCase(Locale.ROOT);
    return tail.contains("address already in use");
  }

  private String logTail() {
    return System.lineSeparator() + LogTail.of(log);
  }

  public final String host() {
    return PortLease.HOST;
  }

  /** The port for clients; the same for all of this server's life. */
  public final int port() {
    return port(0);
  }

  protected final int port(int index) {
    return ports.get(index).port();
  }

  /** The address for clients as {@code host:port}. */
  public final String address() {
    return host() + ":" + port();
  }

  /** The process id of the server, or of the one that ran last. */
  public final long pid() {
    return current().pid();
  }

  public final boolean isAlive() {
    OwnedProcess last = process;
    return last != null && last.isAlive();
  }

  /** What the kernel says of the server's main process: the proof of a pause or a kill. */
  public final ProcessState state() {
    OwnedProcess last = process;
    return last == null ? ProcessState.GONE : last.state();
  }

  /** Ends the server in good order; its data and port stay. */
  public final synchronized void stop() {
    OwnedProcess running = current();
    if (!running.isAlive()) {
      return;
    }
    running.resume();
    running.signal(stopSignal());
    try {
      Eventually.until(STOP_BOUND, this + " to end", () -> !running.isAlive());
    } finally {
      running.kill();
    }
  }

  /** Ends the server as a crash does (SIGKILL); its data and port stay. */
  public final synchronized void kill() {
    current().kill();
  }

  /** Freezes the server and its children (SIGSTOP); connections stay open and are not answered. */
  public final synchronized void pause() {
    running().pause();
  }

  /** Ends a {@link #pause}. */
  public final synchronized void resume() {
    running().resume();
  }

  /** Stops the server in good order if it runs, and starts it on the same port and data. */
  public final synchronized void restart() {
    stop();
    start();
  }

  /**
   * Sets the server's wall clock to this much ahead of the machine's (negative: behind).
   *
   * @throws IllegalStateException if the server was not started with a clock that can be set
   */
  public final void clockOffset(Duration ahead) {
    FakeTime clock = fakeTime;
    if (clock == null) {
      throw new IllegalStateException(this + " runs on the machine's clock: ask for fakeTime()");
    }
    clock.offset(ahead);
  }

  /** What the server wrote to its output, over all its starts. */
  public final Path logFile() {
    return log;
  }

  protected final Path folder() {
    return folder.path();
  }

  private OwnedProcess current() {
    OwnedProcess last = process;
    if (last == null) {
      throw new HarnessException("%s was never started".formatted(this));
    }
    return last;
  }

  private OwnedProcess running() {
    OwnedProcess last = current();
    if (!last.isAlive()) {
      throw new HarnessException("%s does not run".formatted(this) + logTail());
    }
    return last;
  }

  /** Kills the server, deletes its data and gives its port back. */
  @Override
  public final void close() {
    closed = true;
    List<Runnable> steps = new ArrayList<>();
    OwnedProcess last = process;
    if (last != null) {
      steps.add(last::kill);
    }
    steps.add(this::closeMore);
    steps.add(folder::close);
    ports.forEach(port -> steps.add(port::close));
    Closing.all(steps);
  }

  /** What a kind of server has to close beside the process. */
  protected void closeMore() {}

  @Override
  public final String toString() {
    return name + " at " + address();
  }
}
