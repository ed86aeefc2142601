package io.fenceline.jdbc.waiting;

import io.fenceline.jdbc.connection.UnboundThread;
import io.fenceline.jdbc.layout.Channels;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * How a process of this machine is told that one of its claims in an SQLite file is next: a
 * Unix-domain socket beside the file, to which whoever makes room sends the public id of the claim.
 *
 * <p>SQLite tells nobody anything, and what the kernel tells of a file that was written is told to
 * all who wait. What comes by the socket is a hint; where there is none, waiting goes on by
 * looking.
 */
public final class SqliteListener extends HearingListener {
  /*
   * A socket's address has 108 bytes, so a file in a deep folder has no bells. Its name is that of the
   * process, as the rows of its claims have it. A process that was killed leaves its socket
   * behind; whoever puts one beside it takes those away that are a day old and that nobody answers at.
   * A process that comes after it with the same name replaces it.
   *
   * Whoever makes room commits before it rings, so a claim that joined a queue while the bell was there is rung for, and
   * need not look meanwhile. How a ring would be lost all the same, and what then:
   *
   * 1. It comes before the answer that says that its claim waits. It is remembered by its id.
   * 2. Whoever rings stops between its commit and the ring, or finds too many connections waiting. Who waits
   *    looks once a second, and when the time of the holder or of the head is over.
   * 3. An earlier bell of this process ends late: it takes away its own socket, and not that of the later one.
   * 4. No connection can be accepted: it is doubted until one can.
   * 5. Another process of the same name has replaced the socket (two containers), or the file's path is too long where
   *    it is rung from. A look finds what should have been told: then this bell is doubted, and looks are as
   *    frequent as without one, until it is heard.
   */
  private static final int LONGEST_PATH = 100;
  private static final int LONGEST_MESSAGE = 64;
  private static final String INFIX = "-bell-";

  private static final Duration OLD = Duration.ofDays(1);
  private static final long DEAF_PAUSE_NANOS = 100_000_000;

  /**
   * Whose socket is in a place; guarded by itself. One that ends must not take a later one's away.
   */
  private static final Map<Path, SqliteListener> BOUND = new HashMap<>();

  private final Path file;
  private final Path place;
  private final Consumer<String> hint;
  private final Runnable missed;

  // Guarded by this.
  private boolean started;
  private boolean closed;
  private @Nullable Selector selector;
  private @Nullable ServerSocketChannel server;

  /**
   * A bell that is not there yet.
   *
   * @param name of the process: see {@link Channels}
   * @param hint hears whose turn has come
   * @param missed called when it can be rung from then on
   */
  public SqliteListener(Path file, String name, Consumer<String> hint, Runnable missed) {
    this.file = file;
    this.place = place(file, name);
    this.hint = hint;
    this.missed = missed;
  }

  private static Path place(Path file, String name) {
    return file.resolveSibling(file.getFileName() + INFIX + name);
  }

  private static boolean fits(Path place) {
    return place.toString().getBytes(StandardCharsets.UTF_8).length <= LONGEST_PATH;
  }

  /** Tells a process that this claim is next, if it can be told; does not block. */
  public static void ring(Path file, String name, String id) {
    Path place = place(file, name);
    if (!fits(place)) {
      return;
    }
    try (SocketChannel to = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      to.configureBlocking(false);
      if (to.connect(UnixDomainSocketAddress.of(place))) {
        to.write(ByteBuffer.wrap(id.getBytes(StandardCharsets.US_ASCII)));
      }
    } catch (IOException | UnsupportedOperationException e) {
      // It is not there, or has too much to hear: it looks by itself.
    }
  }

  @Override
  public synchronized void start() {
    if (started || closed || !fits(place)) {
      return;
    }
    started = true;
    UnboundThread.of(this::run, "fenceline-bell").start();
  }

  private void run() {
    try (Selector opened = Selector.open();
        ServerSocketChannel bound = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      if (!bind(opened, bound)) {
        return;
      }
      // Whoever may write the file may ring.
      Files.setPosixFilePermissions(place, Files.getPosixFilePermissions(file));
      bound.configureBlocking(false);
      bound.register(opened, SelectionKey.OP_ACCEPT);
      hearing.opened();
      missed.run();
      removeOld();
      ByteBuffer message = ByteBuffer.allocate(LONGEST_MESSAGE);
      while (opened.isOpen()) {
        opened.select(key -> hear(key, opened, message));
      }
    } catch (IOException | RuntimeException e) {
      // Without it, waiting goes on by looking.
    } finally {
      hearing.closed();
      missed.run();
    }
  }

  private boolean bind(Selector opened, ServerSocketChannel bound) throws IOException {
    synchronized (BOUND) {
      if (!keep(opened, bound)) {
        return false;
      }
      Files.deleteIfExists(place);
      bound.bind(UnixDomainSocketAddress.of(place));
      BOUND.put(place, this);
      return true;
    }
  }

  private synchronized boolean keep(Selector opened, ServerSocketChannel bound) {
    selector = opened;
    server = bound;
    return !closed;
  }

  private void removeOwn() throws IOException {
    synchronized (BOUND) {
      if (BOUND.remove(place, this)) {
        Files.deleteIfExists(place);
      }
    }
  }

  private void hear(SelectionKey key, Selector opened, ByteBuffer message) {
    try {
      if (key.channel() instanceof ServerSocketChannel bound) {
        SocketChannel from = bound.accept();
        if (from != null) {
          from.configureBlocking(false);
          read(from, message); // Mostly it is there already.
          if (from.isOpen()) {
            from.register(opened, SelectionKey.OP_READ);
          }
        }
      } else if (key.channel() instanceof SocketChannel from) {
        read(from, message);
      }
    } catch (IOException e) {
      // Nobody can be accepted now, as without free file descriptors: meanwhile, those who wait
      // look.
      hearing.doubt();
      LockSupport.parkNanos(this, DEAF_PAUSE_NANOS);
    }
  }

  /** One message a connection; what is too long or comes in parts is nobody's id. */
  private void read(SocketChannel from, ByteBuffer message) throws IOException {
    message.clear();
    int length;
    try {
      length = from.read(message);
    } catch (IOException e) {
      length = -1; // Whoever rang has gone.
    }
    if (length == 0) {
      return;
    }
    from.close();
    if (length > 0) {
      hearing.heard();
      hint.accept(StandardCharsets.US_ASCII.decode(message.flip()).toString());
    }
  }

  /** Takes away what processes that were killed have left behind. */
  private void removeOld() {
    Path folder = file.toAbsolutePath().getParent();
    String all = file.getFileName() + INFIX + "*";
    if (folder == null) {
      return;
    }
    try (DirectoryStream<Path> others = Files.newDirectoryStream(folder, all)) {
      for (Path other : others) {
        Instant made = Files.getLastModifiedTime(other).toInstant();
        if (!other.equals(place) && made.isBefore(Instant.now().minus(OLD)) && isDead(other)) {
          Files.deleteIfExists(other);
        }
      }
    } catch (IOException | RuntimeException e) {
      // Another one will.
    }
  }

  private static boolean isDead(Path other) {
    try (SocketChannel to = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      to.configureBlocking(false);
      to.connect(UnixDomainSocketAddress.of(other));
      return false;
    } catch (IOException e) {
      return String.valueOf(e.getMessage()).contains("refused");
    }
  }

  @Override
  public void close() {
    Selector toWake;
    ServerSocketChannel toClose;
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      toWake = selector;
      toClose = server;
    }
    try {
      removeOwn();
      if (toClose != null) {
        toClose.close();
      }
      if (toWake != null) {
        toWake.close();
      }
    } catch (IOException e) {
      // The thread ends with its next message, or with the process.
    }
  }
}
