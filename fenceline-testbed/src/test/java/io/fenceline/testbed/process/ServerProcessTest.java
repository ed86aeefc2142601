package io.fenceline.testbed.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testbed.server.RespClient;
import io.fenceline.testkit.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What every server does, shown on the quickest of them. */
class ServerProcessTest {

  private static final Duration BOUND = Duration.ofSeconds(10);

  @Test
  void aPausedServerIsStopped_andAnswersWhenResumed() throws IOException {
    try (RedisServer redis = RedisServer.start();
        RespClient client = RespClient.connect(redis.host(), redis.port())) {
      redis.pause();
      assertThat(redis.state()).isEqualTo(ProcessState.STOPPED);
      assertThat(redis.isAlive()).isTrue();
      client.send("PING");
      client.readTimeout(Duration.ofMillis(100));
      assertThatThrownBy(client::read).isInstanceOf(IOException.class);

      redis.resume();
      assertThat(redis.state()).isNotEqualTo(ProcessState.STOPPED);
      assertThat(redis.command("PING")).isEqualTo("PONG");
    }
  }

  @Test
  void aKilledServerIsGone_andRestartsOnItsPort() {
    try (RedisServer redis = RedisServer.start()) {
      int port = redis.port();
      long pid = redis.pid();
      redis.kill();
      assertThat(redis.state()).isEqualTo(ProcessState.GONE);
      assertThat(ProcessState.of(pid)).isEqualTo(ProcessState.GONE);
      assertThatThrownBy(() -> redis.command("PING")).isInstanceOf(UncheckedIOException.class);

      redis.restart();
      assertThat(redis.port()).isEqualTo(port);
      assertThat(redis.pid()).isNotEqualTo(pid);
      assertThat(redis.command("PING")).isEqualTo("PONG");
    }
  }

  @Test
  void aPausedServerCanBeStoppedAndKilled() {
    try (RedisServer redis = RedisServer.start()) {
      redis.pause();
      redis.stop();
      assertThat(redis.isAlive()).isFalse();

      redis.restart();
      redis.pause();
      redis.kill();
      assertThat(redis.isAlive()).isFalse();
    }
  }

  @Test
  void closeLeavesNothingBehind() {
    RedisServer redis = RedisServer.builder().appendOnly("no").start();
    long pid = redis.pid();
    Path folder = redis.folder();
    assertThat(folder).isDirectory();

    redis.close();
    redis.close();

    assertThat(ProcessState.of(pid)).isEqualTo(ProcessState.GONE);
    assertThat(Files.exists(folder)).isFalse();
    assertThatThrownBy(redis::restart).isInstanceOf(HarnessException.class);
  }

  @Test
  void aServerThatDoesNotStart_showsItsLog() {
    assertThatThrownBy(() -> RedisServer.builder().config("no-such-setting 1").start())
        .isInstanceOf(HarnessException.class)
        .hasMessageContaining("ended at its start")
        .hasMessageContaining("no-such-setting");
  }

  @Test
  void aPortThatSomeoneElseListensOn_isToldFromOtherFailures() throws IOException {
    try (RedisServer redis = RedisServer.start()) {
      redis.stop();
      try (ServerSocket stranger =
          new ServerSocket(redis.port(), 1, InetAddress.getByName(redis.host()))) {
        assertThat(stranger.isBound()).isTrue();
        assertThatThrownBy(redis::restart).isInstanceOf(PortTakenException.class);
      }
    }
  }

  @Test
  void aMissingProgramNamesItsPackage() {
    assertThatThrownBy(() -> Debian.program("no-such-server", "no-such-package"))
        .hasMessage(
            "'no-such-server' is not installed; it comes with: apt-get install no-such-package");
  }

  @Test
  void aJvmThatIsKilled_takesItsServersAlong(@TempDir Path folder) {
    // A folder of ours, because a killed JVM cannot delete its own.
    String option = "-Djava.io.tmpdir=" + folder;
    try (JavaProcess owner = JavaProcess.of(StartsRedis.class).jvmOption(option).start()) {
      String line = owner.expect("started", Duration.ofSeconds(20));
      long pid = Long.parseLong(line.substring("started ".length()));
      assertThat(ProcessState.of(pid)).isNotEqualTo(ProcessState.GONE);

      owner.kill();

      Eventually.until(
          BOUND,
          "the server of the killed JVM to end",
          () -> ProcessState.of(pid),
          ProcessState::isEnded);
    }
  }

  @Test
  void aJvmThatEnds_takesItsServersAndTheirDataAlong() {
    try (JavaProcess owner = JavaProcess.of(StartsRedis.class).start()) {
      long pid =
          Long.parseLong(
              owner.expect("started", Duration.ofSeconds(20)).substring("started ".length()));
      Path folder =
          Path.of(owner.expect("folder", Duration.ofSeconds(20)).substring("folder ".length()));
      assertThat(folder).isDirectory();

      owner.send("end");
      owner.awaitExit(BOUND);

      assertThat(ProcessState.of(pid).isEnded()).isTrue();
      assertThat(folder).doesNotExist();
    }
  }

  /** Starts a server and does not close it. */
  static final class StartsRedis {
    public static void main(String[] args) throws IOException {
      RedisServer redis = RedisServer.start();
      System.out.println("started " + redis.pid());
      System.out.println("folder " + redis.folder());
      System.in.read();
    }
  }
}
