package io.fenceline.testbed.process;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * A port of the loopback interface that is ours until closed, also while no server listens on it.
 *
 * <p>The lease is a lock on one byte of a file, which every test JVM of this user respects, so that
 * a killed server finds its port again. Ports lie below those that the kernel gives to outgoing
 * connections, which would respect nothing. A stranger can still take one between our look and the
 * server's start; the harness then starts again on another.
 */
public final class PortLease implements AutoCloseable {

  static final String HOST = "127.0.0.1";

  private static final int FIRST = 12_000;
  private static final int END = 32_000;
  private static final int ATTEMPTS = 1_000;

  // One channel, never closed: closing any channel of a file drops all locks that a JVM has on it.
  private static final FileChannel LOCKS = open();

  private final int port;
  private final FileLock lock;

  private PortLease(int port, FileLock lock) {
    this.port = port;
    this.lock = lock;
  }

  private static FileChannel open() {
    Path file =
        Path.of(
            System.getProperty("java.io.tmpdir"),
            "fenceline-ports-" + System.getProperty("user.name") + ".lock");
    try {
      return FileChannel.open(file, CREATE, WRITE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Leases a port that nobody listens on. */
  public static PortLease take() {
    try {
      for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int port = ThreadLocalRandom.current().nextInt(FIRST, END);
        FileLock lock = lock(port);
        if (lock != null) {
          if (isFree(port)) {
            return new PortLease(port, lock);
          }
          lock.release();
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    throw new HarnessException("No free port between " + FIRST + " and " + END);
  }

  private static @Nullable FileLock lock(int port) throws IOException {
    try {
      return LOCKS.tryLock(port, 1, false);
    } catch (OverlappingFileLockException e) {
      return null; // this very JVM has it
    }
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port));
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  public int port() {
    return port;
  }

  @Override
  public void close() {
    try {
      lock.release();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
