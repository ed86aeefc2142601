package io.fenceline.bench.contender;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Taking turns at an SQLite file without a lock: a ring of processes that each raise a number by
 * one transaction and then send a byte to the next, through a Unix-domain socket. SQLite tells
 * nobody anything, so that the bell is the kernel's; this is the cheapest one that Java has.
 */
final class SqliteRing implements Contender {
  private final Place place = Place.here();
  private final Path file;
  private final Connection connection;

  SqliteRing(String address) throws Exception {
    this.file = Path.of(address.replace("sqlite:", "") + "-ring");
    this.connection = DriverManager.getConnection("jdbc:sqlite:" + file);
    try (Statement statement = connection.createStatement()) {
      statement.execute("PRAGMA busy_timeout = 10000");
      statement.execute("PRAGMA journal_mode = WAL");
      statement.execute("PRAGMA synchronous = NORMAL");
      statement.execute(
          "CREATE TABLE IF NOT EXISTS ring_numbers (name TEXT PRIMARY KEY, number INTEGER)");
    }
  }

  @Override
  public Cycle on(String name) throws Exception {
    try (PreparedStatement make =
        connection.prepareStatement("INSERT OR IGNORE INTO ring_numbers VALUES (?, 0)")) {
      make.setString(1, name);
      make.executeUpdate();
    }
    PreparedStatement raise =
        connection.prepareStatement(
            "UPDATE ring_numbers SET number = number + 1 WHERE name = ? RETURNING number");
    raise.setString(1, name);
    LinkedBlockingQueue<Integer> turns = new LinkedBlockingQueue<>();
    ServerSocketChannel bell = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    bell.bind(address(name, place.index()));
    Thread listening = new Thread(() -> listen(bell, turns), "ring");
    listening.setDaemon(true);
    listening.start();
    if (place.index() == 0) {
      turns.add(0);
    }
    SocketChannel[] next = new SocketChannel[1];
    return section -> {
      if (turns.poll(Floors.LONGEST_WAIT_MILLIS, TimeUnit.MILLISECONDS) == null) {
        return;
      }
      long number;
      try (ResultSet row = raise.executeQuery()) {
        Floors.check(row.next());
        number = row.getLong(1);
      }
      section.run(number);
      if (next[0] == null) {
        next[0] = connect(address(name, place.next()));
      }
      next[0].write(ByteBuffer.wrap(new byte[] {1}));
    };
  }

  private UnixDomainSocketAddress address(String name, int index) {
    return UnixDomainSocketAddress.of(file.resolveSibling(name + "." + index));
  }

  /** The others may still be starting: a socket has a name before anybody listens to it. */
  private static SocketChannel connect(UnixDomainSocketAddress address) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (true) {
      try {
        return SocketChannel.open(address);
      } catch (IOException e) {
        if (System.nanoTime() - end > 0) {
          throw e;
        }
        Thread.sleep(1);
      }
    }
  }

  private static void listen(ServerSocketChannel bell, LinkedBlockingQueue<Integer> turns) {
    try (SocketChannel before = bell.accept()) {
      ByteBuffer one = ByteBuffer.allocate(1);
      while (before.read(one) == 1) {
        turns.add(0);
        one.clear();
      }
    } catch (IOException e) {
      // The end of the run.
    }
  }

  @Override
  public void close() throws Exception {
    connection.close();
  }
}
