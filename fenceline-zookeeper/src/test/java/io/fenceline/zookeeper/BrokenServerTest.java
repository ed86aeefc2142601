package io.fenceline.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.StoreUnavailableException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server whose answers do not end. */
@SuppressWarnings("MustBeClosedChecker") // What is to be refused is not there to be closed.
class BrokenServerTest {
  /** What sockets hold between the two; the client itself reads less. */
  private static final long LITTLE = 32L << 20;

  /** Passes everything on, until it is broken: then it announces a long answer, and sends on. */
  private static final class Relay implements AutoCloseable {
    private final ServerSocket listener;
    private final AtomicLong sent = new AtomicLong();
    private volatile int broken;

    Relay() throws IOException {
      listener = new ServerSocket(0, 0, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
      run(this::accept);
    }

    String address() {
      return "127.0.0.1:" + listener.getLocalPort();
    }

    private interface Task {
      void run() throws IOException;
    }

    private static void run(Task task) {
      Thread thread =
          new Thread(
              () -> {
                try {
                  task.run();
                } catch (IOException e) {
                  // One of both has closed.
                }
              });
      thread.setDaemon(true);
      thread.start();
    }

    private void accept() throws IOException {
      while (true) {
        Socket client = listener.accept();
        Socket server = new Socket(Servers.single().host(), Servers.single().port());
        run(
            () -> {
              try (server) {
                client.getInputStream().transferTo(server.getOutputStream());
              }
            });
        run(() -> answer(client, server.getInputStream()));
      }
    }

    private void answer(Socket client, InputStream answers) throws IOException {
      byte[] buffer = new byte[8_192];
      try (client) {
        OutputStream out = client.getOutputStream();
        for (int read = answers.read(buffer); read >= 0; read = answers.read(buffer)) {
          if (broken != 0) {
            out.write(ByteBuffer.allocate(4).putInt(broken).array());
            while (broken != 0) {
              out.write(buffer);
              sent.addAndGet(buffer.length);
            }
          } else {
            out.write(buffer, 0, read);
          }
        }
      }
    }

    @Override
    public void close() throws IOException {
      broken = 0;
      listener.close();
    }
  }

  private Relay relay;

  @BeforeEach
  void open() throws IOException {
    relay = new Relay();
  }

  @AfterEach
  void close() throws IOException {
    relay.close();
  }

  @Test
  void endlessAnswerToTheConnect_isNoConnection() {
    relay.broken = Integer.MAX_VALUE;

    assertThatThrownBy(
            () ->
                Fenceline.builder()
                    .store("zookeeper://" + relay.address() + "/broken")
                    .connectTimeout(Duration.ofSeconds(1))
                    .connect())
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("No ZooKeeper server answered within 1s");

    assertThat(relay.sent).hasValueLessThan(LITTLE);
  }

  @ParameterizedTest
  @ValueSource(ints = {Integer.MAX_VALUE, 2 << 20, -1})
  void endlessAnswerToAClaim_isALostConnection_andTheSessionGoesOn(int length) {
    String name = "endless-" + length;
    try (Fleet fleet = new Fleet()) {
      Fenceline client =
          fleet.client("client", Servers.store(relay.address()), Duration.ofSeconds(3));
      Fleet.take(client, "before-" + length).release();

      relay.broken = length;
      assertThatThrownBy(() -> client.lock(name).tryAcquire())
          .isInstanceOf(StoreUnavailableException.class);
      relay.broken = 0;

      assertThat(relay.sent).hasValueLessThan(LITTLE);
      Hold hold = Fleet.get(client.lock(name).acquireAsync(Fleet.AMPLE));
      assertThat(hold.isValid()).isTrue();
    }
  }
}
