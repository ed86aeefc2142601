package io.fenceline.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.StoreUnavailableException;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.proxy.Trigger;
import io.fenceline.testbed.server.TlsFiles;
import io.fenceline.testbed.server.ZooKeeperServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Certificates of both sides, named in the address, are used and checked. */
@SuppressWarnings("MustBeClosedChecker") // What is to be refused is not there to be closed.
class TlsTest {
  private static final String PASSWORD = "c4n4ry";
  private static final Duration BRIEF = Duration.ofSeconds(4);

  @TempDir private static Path folder;

  private static ZooKeeperServer server;
  private static Path keys;
  private static Path trusted;

  @BeforeAll
  static void start() {
    server = ZooKeeperServer.startWithTls(Servers.TICK);
    TlsFiles files = server.tlsFiles();
    keys = files.keyStore(folder.resolve("client.p12"), PASSWORD);
    trusted = files.trustStore(folder.resolve("trusted.p12"), PASSWORD);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static Fenceline connect(Duration timeout, String settings) {
    return connect(timeout, server.tlsAddress(), settings);
  }

  private static Fenceline connect(Duration timeout, String address, String settings) {
    return Fenceline.builder()
        .store(
            "zookeeper://%s/tls?session=5s&tick=%dms&%s"
                .formatted(address, Servers.TICK.toMillis(), settings))
        .connectTimeout(timeout)
        .connect();
  }

  private static String trusting() {
    return "tls=true&trustStore=%s&trustStorePassword=%s".formatted(trusted, PASSWORD);
  }

  @Test
  void aClientThatShowsACertificate_takesLocks() throws InterruptedException {
    String known = trusting() + "&keyStore=%s&keyStorePassword=%s".formatted(keys, PASSWORD);
    LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(2));
    try (Fenceline client = connect(Fleet.AMPLE, known);
        Hold hold = client.lock("certified", options).acquire(Fleet.AMPLE)) {
      assertThat(hold.isValid()).isTrue();
      assertThat(client.toString() + client.store()).doesNotContain(PASSWORD);
      assertThat(client.diagnose()).isNotEmpty();
    }
  }

  @Test
  void addressOfThePage_takesLocks() throws Exception {
    String uri =
        PageAddress.startingWith("zookeeper://app:SECRET@a:2281")
            .replace("a:2281,b:2281,c:2281", server.tlsAddress())
            .replace("/etc/shop/trusted.p12", trusted.toString())
            .replace("/etc/shop/client.p12", keys.toString())
            .replace("SECRET", PASSWORD);
    LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(2));
    String store = uri + "&session=5s&tick=%dms".formatted(Servers.TICK.toMillis());
    try (Fenceline client = Fenceline.builder().store(store).connectTimeout(Fleet.AMPLE).connect();
        Hold hold = client.lock("of-the-page", options).acquire(Fleet.AMPLE)) {
      assertThat(hold.isValid()).isTrue();
      assertThat(client.toString() + client.store()).doesNotContain(PASSWORD);
    }
  }

  @Test
  void aClientWithoutACertificate_isRefused() {
    assertThatThrownBy(() -> connect(BRIEF, trusting()))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageNotContaining(PASSWORD);
  }

  @Test
  void aServerThatNobodyVouchesFor_isNotBelieved() {
    String naive = "tls=true&keyStore=%s&keyStorePassword=%s".formatted(keys, PASSWORD);
    assertThatThrownBy(() -> connect(BRIEF, naive))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageNotContaining(PASSWORD);
  }

  @Test
  void aServerThatItsCertificateDoesNotName_isNotBelieved() {
    String known = trusting() + "&keyStore=%s&keyStorePassword=%s".formatted(keys, PASSWORD);
    int port = Integer.parseInt(server.tlsAddress().replaceFirst(".*:", ""));
    try (FaultProxy named = FaultProxy.to(server.host(), port, Protocol.BYTES);
        FaultProxy other = FaultProxy.atAnotherAddress(server.host(), port, Protocol.BYTES)) {
      connect(Fleet.AMPLE, named.address(), known).close();
      assertThatThrownBy(() -> connect(BRIEF, other.address(), known))
          .isInstanceOf(StoreUnavailableException.class);
    }
  }

  @Test
  void aClientThatSpeaksPlainly_isNotHeardThere() {
    assertThatThrownBy(() -> connect(BRIEF, "acl=open"))
        .isInstanceOf(StoreUnavailableException.class);
  }

  @Test
  void optionOfTls_turnsItOn_andThePasswordIsNotHeard() {
    String store = "trustStore=%s&trustStorePassword=%s".formatted(trusted, PASSWORD);
    AtomicInteger requests = new AtomicInteger();
    AtomicInteger readable = new AtomicInteger();
    ZooKeeperServer plain = Servers.single();
    try (FaultProxy proxy = FaultProxy.to(plain.host(), plain.port(), Protocol.BYTES)) {
      proxy.cutRequest(
          Trigger.every(
              frame -> {
                requests.incrementAndGet();
                if (frame.contains("s3cr3t-canary")) {
                  readable.incrementAndGet();
                }
                return false;
              }));
      String uri = "zookeeper://app:s3cr3t-canary@%s/tls?%s".formatted(proxy.address(), store);
      assertThatThrownBy(() -> Fenceline.builder().store(uri).connectTimeout(BRIEF).connect())
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageNotContaining("s3cr3t");
    }
    assertThat(readable).as("requests with the password in clear").hasValue(0);
    assertThat(requests).as("requests that were heard").hasValueGreaterThan(0);
  }
}
