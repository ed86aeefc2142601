package io.fenceline.jdbc.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.testbed.server.TlsFiles;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import io.fenceline.time.Time;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The same over TLS, as drivers have it: their socket reads from ours. */
class CallersThreadOverTlsTest {
  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final long MOST = Duration.ofSeconds(3).toNanos();
  private static final String PASSWORD = "secret";
  private static final byte[] ANSWER = {1, 2, 3, 4, 5};

  @TempDir Path folder;

  private final ManualTime time = new ManualTime();
  private final AtomicInteger looks = new AtomicInteger();
  private final CompletableFuture<Void> greeted = new CompletableFuture<>();

  /** Counts how often it is looked whether a thread is wanted back. */
  private final Time counting =
      (Time)
          Proxy.newProxyInstance(
              Time.class.getClassLoader(),
              new Class<?>[] {Time.class},
              (proxy, method, arguments) -> {
                looks.incrementAndGet();
                return method.invoke(time, arguments);
              });

  private ServerSocket listening;
  private ServerSocket listeningBefore;
  private Socket toServer;
  private Socket fromClient;
  private SSLSocket client;
  private SSLSocket server;

  @BeforeEach
  void connect() throws Exception {
    TlsFiles files = TlsFiles.create(folder);
    listening = serverContext(files).getServerSocketFactory().createServerSocket(0, 1, loopback());
    listeningBefore = new ServerSocket(0, 1, loopback());
    Socket plain = new BoundedSockets().createSocket(loopback(), listeningBefore.getLocalPort());
    plain.setSoTimeout((int) BOUND.toMillis());
    fromClient = listeningBefore.accept();
    toServer = new Socket(loopback(), listening.getLocalPort());
    server = (SSLSocket) listening.accept();
    inThread(() -> fromClient.getInputStream().transferTo(toServer.getOutputStream()));
    client =
        (SSLSocket)
            files
                .clientContext()
                .getSocketFactory()
                .createSocket(plain, "localhost", plain.getPort(), true);
  }

  private static InetAddress loopback() {
    return InetAddress.getLoopbackAddress();
  }

  private SSLContext serverContext(TlsFiles files) throws Exception {
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(files.keyStore(folder.resolve("keys"), PASSWORD))) {
      store.load(in, PASSWORD.toCharArray());
    }
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, PASSWORD.toCharArray());
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), null, null);
    return context;
  }

  @AfterEach
  void close() throws IOException {
    fromClient.close();
    toServer.close();
    client.close();
    server.close();
    listening.close();
    listeningBefore.close();
    time.close();
  }

  private interface Step {
    void run() throws IOException;
  }

  private static Thread inThread(Step step) {
    Thread thread =
        new Thread(
            () -> {
              try {
                step.run();
              } catch (IOException e) {
                // The connection was closed.
              }
            });
    thread.start();
    return thread;
  }

  private interface Passing {
    void pass(int one, OutputStream to) throws IOException;
  }

  /** Greets without delay; each byte of the answer that follows passes as it is told here. */
  private void greet(Passing passing) throws IOException {
    inThread(
        () -> {
          byte[] some = new byte[8192];
          OutputStream to = fromClient.getOutputStream();
          int count;
          while ((count = toServer.getInputStream().read(some)) >= 0) {
            if (!greeted.isDone()) {
              to.write(some, 0, count);
              continue;
            }
            for (int i = 0; i < count; i++) {
              passing.pass(some[i], to);
            }
          }
        });
    inThread(
        () -> {
          server.getOutputStream().write(0);
          assertThat(server.getInputStream().read()).isZero();
          server.getOutputStream().write(ANSWER);
        });
    assertThat(client.getInputStream().read()).isZero();
    greeted.complete(null);
    client.getOutputStream().write(0);
  }

  private record Waiting(Thread thread, CompletableFuture<Integer> answer) {}

  private Waiting waiting() throws IOException {
    InputStream from = client.getInputStream();
    CompletableFuture<Integer> answered = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                int read =
                    new CallersThread(counting, MOST, true)
                        .keep(
                            () -> {
                              try {
                                return from.readNBytes(ANSWER.length).length;
                              } catch (IOException e) {
                                throw new SQLException(e);
                              }
                            });
                answered.complete(read);
              } catch (SQLException e) {
                answered.completeExceptionally(e);
              }
            });
    thread.start();
    return new Waiting(thread, answered);
  }

  @Test
  void aRecordThatComesByteByByte_isRead_thoughTheThreadLooksInBetween() throws Exception {
    greet(
        (one, to) -> {
          int before = looks.get();
          Eventually.until(BOUND, "two looks", () -> looks.get() > before + 1);
          to.write(one);
        });
    Waiting waiting = waiting();
    assertThat(waiting.answer.get(BOUND.toSeconds(), TimeUnit.SECONDS)).isEqualTo(ANSWER.length);
    assertThat(looks.get()).isGreaterThan(2 * ANSWER.length);
  }

  @Test
  void anInterrupt_freesIt_inTheMiddleOfARecord() throws Exception {
    CompletableFuture<Void> half = new CompletableFuture<>();
    AtomicInteger passed = new AtomicInteger();
    greet(
        (one, to) -> {
          int count = passed.incrementAndGet();
          if (count <= 7) { // A record's own head has five.
            to.write(one);
          } else {
            half.complete(null);
          }
        });
    Waiting waiting = waiting();
    half.get(BOUND.toSeconds(), TimeUnit.SECONDS);
    int before = looks.get();
    Eventually.until(BOUND, "it to wait on", () -> looks.get() > before + 2);
    waiting.thread.interrupt();
    assertThatThrownBy(() -> waiting.answer.get(BOUND.toSeconds(), TimeUnit.SECONDS))
        .rootCause()
        .isInstanceOf(SocketTimeoutException.class)
        .hasMessage("the caller did not wait for the answer any longer");
  }
}
