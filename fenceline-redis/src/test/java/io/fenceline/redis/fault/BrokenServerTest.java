package io.fenceline.redis.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.StoreUnavailableException;
import io.fenceline.redis.support.Clients;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Something that answers without end. */
class BrokenServerTest {
  private static final Duration LEASE = Duration.ofSeconds(60);
  private static final long MUCH = 64 << 20;

  private static RedisServer redis;

  @RegisterExtension final Clients clients = new Clients();

  @BeforeAll
  static void start() {
    redis = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    redis.close();
  }

  /** Passes on what a server says, until it is told to say something else. */
  private static final class Relay implements AutoCloseable {
    final AtomicLong sent = new AtomicLong();
    final AtomicLong cutOff = new AtomicLong();
    private final ServerSocket listener;
    private volatile byte[] first = {};
    private volatile byte[] forEver = {};

    Relay() {
      try {
        listener = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      start(
          () -> {
            while (true) {
              Socket client = listener.accept();
              Socket server = new Socket(redis.host(), redis.port());
              start(() -> client.getInputStream().transferTo(server.getOutputStream()));
              start(() -> answer(server, client));
            }
          });
    }

    private interface Work {
      void run() throws IOException;
    }

    private static void start(Work work) {
      Thread thread =
          new Thread(
              () -> {
                try {
                  work.run();
                } catch (IOException e) {
                  // The connection is over.
                }
              });
      thread.setDaemon(true);
      thread.start();
    }

    private void answer(Socket server, Socket client) throws IOException {
      try (server;
          client) {
        InputStream in = server.getInputStream();
        OutputStream out = client.getOutputStream();
        byte[] some = new byte[1 << 16];
        for (int read = in.read(some); read > 0; read = in.read(some)) {
          if (forEver.length == 0) {
            out.write(some, 0, read);
          } else {
            flood(out);
          }
        }
      }
    }

    private void flood(OutputStream out) throws IOException {
      byte[] rest = forEver; // It goes on as it began: to write nothing would never fail, nor end.
      try {
        out.write(first);
        while (sent.get() < 8 * MUCH) {
          out.write(rest);
          sent.addAndGet(rest.length);
        }
      } catch (IOException e) {
        cutOff.incrementAndGet();
        throw e;
      }
    }

    void breakDown(String start, String rest) {
      first = start.getBytes(StandardCharsets.US_ASCII);
      forEver = rest.repeat(1 << 10).getBytes(StandardCharsets.US_ASCII);
    }

    void heal() {
      forEver = new byte[0];
    }

    String uri() {
      return "redis://127.0.0.1:" + listener.getLocalPort();
    }

    @Override
    public void close() {
      try {
        listener.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "$2000000000, x, bytes",
    "*2000000000, :1~, values",
    "*3~*200000~*200000~*200000, :1~, values",
    "*400000, $100~xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx~, bytes",
    "%1500000000, :1~, values",
    ">2000000000, :1~, values",
    "+OK, HTTP/1.1, not an answer of Redis",
    "HTTP/1.1 200 OK, x, not an answer of Redis"
  })
  void answerWithoutEnd_endsTheConnection_andTheErrorSaysWhy(
      String first, String rest, String why) {
    try (Relay relay = new Relay()) {
      Fenceline client = clients.connect(relay.uri(), LEASE);
      relay.breakDown(first.replace("~", "\r\n") + "\r\n", rest.replace("~", "\r\n"));

      assertThatThrownBy(() -> client.lock("broken").tryAcquire())
          .isInstanceOf(StoreUnavailableException.class)
          .satisfies(
              failure -> {
                if (!first.startsWith("+")) { // Its first line is an answer, though a wrong one.
                  assertThat(failure).hasMessageContaining(why);
                }
              });

      Eventually.until(Clients.AMPLE, "its end", () -> relay.cutOff.get() > 0);
      assertThat(relay.sent.get()).isLessThan(MUCH);
      relay.heal();
      assertThat(Clients.acquire(client, "healed").isValid()).isTrue();
      clients.afterEach(null);
    }
  }

  @Test
  void lineWithoutEnd_endsTheConnection() {
    try (Relay relay = new Relay()) {
      Fenceline client = clients.connect(relay.uri(), LEASE);
      relay.breakDown("+", "x");

      assertThatThrownBy(() -> client.lock("broken").tryAcquire())
          .hasMessageContaining("a line of more than");

      assertThat(relay.sent.get()).isLessThan(MUCH);
      clients.afterEach(null);
    }
  }

  @Test
  void answersThatNobodyAskedFor_endTheConnection() {
    try (Relay relay = new Relay()) {
      Fenceline client = clients.connect(relay.uri(), LEASE);
      relay.breakDown("", ":1\r\n");
      try {
        var unused = client.lock("broken").tryAcquire();
      } catch (StoreUnavailableException e) {
        // It depends on how far it gets with them.
      }

      Eventually.until(Clients.AMPLE, "its end", () -> relay.cutOff.get() > 0);
      assertThat(relay.sent.get()).isLessThan(MUCH);
      clients.afterEach(null);
    }
  }
}
