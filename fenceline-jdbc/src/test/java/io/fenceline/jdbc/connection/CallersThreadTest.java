package io.fenceline.jdbc.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When a thread that waits for a silent server on its caller's behalf is free again. */
class CallersThreadTest {
  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final long MOST = Duration.ofSeconds(3).toNanos();

  private final ManualTime time = new ManualTime();
  private ServerSocket listening;
  private Socket client;
  private Socket server;

  @BeforeEach
  void connect() throws IOException {
    listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    client =
        new BoundedSockets().createSocket(listening.getInetAddress(), listening.getLocalPort());
    client.setSoTimeout((int) BOUND.toMillis());
    server = listening.accept();
  }

  @AfterEach
  void close() throws IOException {
    client.close();
    server.close();
    listening.close();
    time.close();
  }

  private static int answer(InputStream from) throws SQLException {
    try {
      return from.read(new byte[8], 0, 8);
    } catch (IOException e) {
      throw new SQLException(e);
    }
  }

  private record Waiting(Thread thread, CompletableFuture<Integer> answer) {}

  private Waiting waiting(boolean interruptible) throws IOException {
    InputStream from = client.getInputStream();
    return waiting(interruptible, () -> answer(from));
  }

  private Waiting waiting(boolean interruptible, CallersThread.Request<Integer> request) {
    CompletableFuture<Integer> answered = new CompletableFuture<>();
    AtomicReference<CallersThread> caller = new AtomicReference<>();
    Thread thread =
        new Thread(
            () -> {
              CallersThread self = new CallersThread(time, MOST, interruptible);
              try {
                caller.set(self);
                int read = self.keep(request);
                answered.complete(read);
              } catch (SQLException e) {
                answered.completeExceptionally(e);
              }
            });
    thread.start();
    Eventually.until(BOUND, "the thread to be kept", () -> caller.get() != null);
    return new Waiting(thread, answered);
  }

  private static void assertFreed(Waiting waiting) {
    assertThatThrownBy(() -> waiting.answer.get(BOUND.toSeconds() / 2, TimeUnit.SECONDS))
        .rootCause()
        .isInstanceOf(SocketTimeoutException.class)
        .hasMessage("the caller did not wait for the answer any longer");
  }

  @Test
  void anAnswer_isRead() throws Exception {
    Waiting waiting = waiting(true);
    server.getOutputStream().write(new byte[] {1, 2, 3});
    assertThat(waiting.answer.get(BOUND.toSeconds(), TimeUnit.SECONDS)).isEqualTo(3);
    assertThat(client.getSoTimeout()).isEqualTo(BOUND.toMillis());
  }

  @Test
  void theEndOfItsTime_freesIt() throws Exception {
    Waiting waiting = waiting(false);
    time.advance(Duration.ofNanos(MOST));
    assertFreed(waiting);
  }

  @Test
  void anInterrupt_freesIt_ifItListensToInterrupts() throws Exception {
    Waiting waiting = waiting(true);
    waiting.thread.interrupt();
    assertFreed(waiting);
  }

  /** Drivers skip what they do not know. */
  @Test
  void anInterrupt_freesIt_whileItSkips() throws Exception {
    InputStream from = client.getInputStream();
    Waiting waiting =
        waiting(
            true,
            () -> {
              try {
                return (int) from.skip(10_000);
              } catch (IOException e) {
                throw new SQLException(e);
              }
            });
    server.getOutputStream().write(new byte[9_000]);
    waiting.thread.interrupt();
    assertFreed(waiting);
  }

  @Test
  void whatIsSkipped_isSkippedToItsEnd() throws Exception {
    server.getOutputStream().write(new byte[10_000]);
    server.getOutputStream().write(7);
    assertThat(client.getInputStream().skip(10_000)).isEqualTo(10_000);
    assertThat(client.getInputStream().read()).isEqualTo(7);
  }

  @Test
  void anInterrupt_changesNothing_otherwise() throws Exception {
    Waiting waiting = waiting(false);
    waiting.thread.interrupt();
    Eventually.until(BOUND, "it to wait on", () -> waiting.thread.isInterrupted());
    server.getOutputStream().write(1);
    assertThat(waiting.answer.get(BOUND.toSeconds(), TimeUnit.SECONDS)).isEqualTo(1);
  }

  /** There is always something to read, so that it never waits. */
  @Test
  void theEndOfItsTime_freesIt_thoughTheServerIsNotSilent() throws Exception {
    server.getOutputStream().write(new byte[1_000]);
    InputStream from = client.getInputStream();
    CallersThread self = new CallersThread(time, MOST, false);
    assertThatThrownBy(
            () ->
                self.keep(
                    () -> {
                      assertThat(answer(from)).isPositive();
                      time.advance(Duration.ofNanos(MOST));
                      return answer(from);
                    }))
        .rootCause()
        .isInstanceOf(SocketTimeoutException.class)
        .hasMessage("the caller did not wait for the answer any longer");
  }

  @Test
  void theSocketsOwnTimeout_isKept() throws Exception {
    client.setSoTimeout(50);
    Waiting waiting = waiting(true);
    assertThatThrownBy(() -> waiting.answer.get(BOUND.toSeconds(), TimeUnit.SECONDS))
        .rootCause()
        .isInstanceOf(SocketTimeoutException.class)
        .hasMessageNotContaining("caller");
    assertThat(client.getSoTimeout()).isEqualTo(50);
  }

  @Test
  void threadsOfOurs_areNotKept() throws Exception {
    CallersThread self = new CallersThread(time, MOST, true);
    CallersThread during = self.keep(CallersThread::kept);
    assertThat(during).isSameAs(self);
    assertThat(CallersThread.kept()).isNull();
  }

  /** As by a log that takes a lock itself. */
  @Test
  void aThreadThatMakesARequestWithinARequest_isKeptForTheOuterOneAfterwards() throws Exception {
    CallersThread self = new CallersThread(time, MOST, true);
    CallersThread afterwards =
        self.keep(
            () -> {
              CallersThread inner = new CallersThread(time, MOST, false);
              assertThat(inner.keep(CallersThread::kept)).isSameAs(inner);
              return CallersThread.kept();
            });
    assertThat(afterwards).isSameAs(self);
    assertThat(CallersThread.kept()).isNull();
  }
}
