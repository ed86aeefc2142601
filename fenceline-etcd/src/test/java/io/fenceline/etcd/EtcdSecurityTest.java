package io.fenceline.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.EtcdServer;
import io.fenceline.testbed.server.TlsFiles;
import io.fenceline.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Users, passwords whose tokens run out, and certificates. */
@Execution(ExecutionMode.CONCURRENT)
@SuppressWarnings("MustBeClosedChecker") // what should not connect needs no closing
class EtcdSecurityTest {
  private static final Duration BOUND = Duration.ofSeconds(40);
  private static final String PASSWORD = "c4n4ry";
  private static final LockOptions OPTIONS = LockOptions.defaults().lease(Duration.ofSeconds(4));

  @Test
  void aUserWithTheNeededRole_goesOnWhenItsTokenHasRunOut() throws Exception {
    try (EtcdServer etcd = EtcdServer.start("--auth-token-ttl=1")) {
      etcd.etcdctl("user", "add", "root:root");
      etcd.etcdctl("user", "grant-role", "root", "root");
      etcd.etcdctl("role", "add", "locks");
      etcd.etcdctl("role", "grant-permission", "locks", "--prefix", "readwrite", "/fenceline/");
      etcd.etcdctl("user", "add", "app:" + PASSWORD);
      etcd.etcdctl("user", "grant-role", "app", "locks");
      etcd.etcdctl("auth", "enable");
      String uri = "etcd://app:" + PASSWORD + "@" + etcd.address();
      try (Fenceline a = client(uri);
          Fenceline b = client(uri);
          Hold hold = a.lock("secured").acquire(BOUND)) {
        CompletableFuture<Hold> waiting = b.lock("secured").acquireAsync(BOUND);
        long authentications = etcd.rpcCount("Authenticate");
        // Simple tokens live on while they are used, so that only an idle client loses its own.
        long start = System.nanoTime();
        Eventually.until(
            BOUND,
            "two leases to pass",
            () -> System.nanoTime() - start > 2 * OPTIONS.lease().toNanos());
        assertThat(etcd.rpcCount("Authenticate")).isGreaterThan(authentications);
        assertThat(hold.isValid()).isTrue();
        hold.release();
        try (Hold next = waiting.get(40, TimeUnit.SECONDS)) {
          assertThat(next.token()).isGreaterThan(hold.token());
        }
        assertThat(a.toString() + b.store()).doesNotContain(PASSWORD);
      }
      assertThatThrownBy(() -> Fenceline.connect("etcd://app:wr0ng@" + etcd.address()).close())
          .isInstanceOf(StoreRefusedException.class)
          .hasMessageNotContaining("wr0ng");
      assertThatThrownBy(
              () ->
                  Fenceline.connect("etcd://app:" + PASSWORD + "@" + etcd.address() + "/elsewhere")
                      .close())
          .isInstanceOf(StoreRefusedException.class)
          .hasMessageContaining("permission denied")
          .hasMessageNotContaining(PASSWORD);
    }
  }

  @Test
  void certificatesOfBothSidesAreChecked() throws Exception {
    try (EtcdServer etcd = EtcdServer.startWithTls()) {
      TlsFiles files = etcd.tlsFiles();
      String trusting = "etcd://" + etcd.tlsAddress() + "?ca=" + files.caCertificate();
      String known = trusting + "&cert=" + files.certificate() + "&key=" + files.key();
      try (Fenceline client = client(known);
          Hold hold = client.lock("certified").acquire(BOUND)) {
        assertThat(hold.isValid()).isTrue();
      }
      assertThatThrownBy(() -> Fenceline.connect(trusting).close())
          .as("without a certificate of its own")
          .isInstanceOf(StoreUnavailableException.class);
      assertThatThrownBy(
              () -> Fenceline.connect("etcd://" + etcd.tlsAddress() + "?tls=true").close())
          .as("an authority that nobody trusts")
          .isInstanceOf(StoreUnavailableException.class);
    }
  }

  private static String onThePage(String start) throws IOException {
    return Files.readAllLines(Path.of("../docs/etcd.md")).stream()
        .filter(line -> line.startsWith(start))
        .findFirst()
        .orElseThrow(() -> new AssertionError("docs/etcd.md has no " + start));
  }

  /** Whoever logs in has the rights that the page names, and a certificate if there is TLS. */
  private static void allowTheUserOfThePage(EtcdServer etcd) {
    etcd.etcdctl("user", "add", "root:root");
    etcd.etcdctl("user", "grant-role", "root", "root");
    etcd.etcdctl("role", "add", "locks");
    etcd.etcdctl("role", "grant-permission", "locks", "readwrite", "/shop/format");
    etcd.etcdctl("role", "grant-permission", "locks", "--prefix", "readwrite", "/shop/lock/");
    etcd.etcdctl("user", "add", "app:SECRET");
    etcd.etcdctl("user", "grant-role", "app", "locks");
    etcd.etcdctl("auth", "enable");
  }

  @Test
  void loginOfThePage_takesLocks() throws Exception {
    String uri = onThePage("etcd://app:SECRET@");
    try (EtcdServer etcd = EtcdServer.start()) {
      allowTheUserOfThePage(etcd);
      try (Fenceline client = client(uri.replace("a:2379,b:2379,c:2379", etcd.address()));
          Hold hold = client.lock("of-the-page").acquire(BOUND)) {
        assertThat(hold.isValid()).isTrue();
      }
    }
  }

  /** Also with a login beside them, which the page leaves to the reader. */
  @Test
  void certificatesOfThePage_takeLocks() throws Exception {
    String page = onThePage("etcd://a:2379,b:2379,c:2379/shop?ca=");
    try (EtcdServer etcd = EtcdServer.startWithTls()) {
      TlsFiles files = etcd.tlsFiles();
      String uri =
          page.replace("a:2379,b:2379,c:2379", etcd.tlsAddress())
              .replace("/etc/shop/ca.crt", files.caCertificate().toString())
              .replace("/etc/shop/client.crt", files.certificate().toString())
              .replace("/etc/shop/client.key", files.key().toString());
      try (Fenceline client = client(uri);
          Hold hold = client.lock("of-the-page").acquire(BOUND)) {
        assertThat(hold.isValid()).isTrue();
      }
      allowTheUserOfThePage(etcd);
      try (Fenceline client = client(uri.replace("etcd://", "etcd://app:SECRET@"));
          Hold hold = client.lock("of-the-page").acquire(BOUND)) {
        assertThat(hold.isValid()).isTrue();
      }
    }
  }

  @Test
  void aServerThatItsCertificateDoesNotName_isNotBelieved() throws Exception {
    try (EtcdServer etcd = EtcdServer.startWithTls()) {
      TlsFiles files = etcd.tlsFiles();
      int port = Integer.parseInt(etcd.tlsAddress().replaceFirst(".*:", ""));
      String known =
          "?ca=%s&cert=%s&key=%s"
              .formatted(files.caCertificate(), files.certificate(), files.key());
      try (FaultProxy named = FaultProxy.to(etcd.host(), port, Protocol.BYTES);
          FaultProxy other = FaultProxy.atAnotherAddress(etcd.host(), port, Protocol.BYTES)) {
        client("etcd://" + named.address() + known).close();
        assertThatThrownBy(() -> client("etcd://" + other.address() + known))
            .isInstanceOf(StoreUnavailableException.class)
            .hasMessageContaining("127.0.0.2");
      }
    }
  }

  /** How fast one connects is not what is tested here. */
  private static Fenceline client(String uri) {
    return Fenceline.builder().store(uri).defaultOptions(OPTIONS).connectTimeout(BOUND).connect();
  }

  @Test
  void wrongAddressesAreRefused_withoutTheirSecrets() {
    for (String wrong :
        new String[] {
          "etcd://app:s3cret@localhost:1?cert=/x",
          "etcd://app:s3cret@localhost:1?timeout=3",
          "etcd://app:s3cret@localhost:1?tls=maybe",
          "etcd://app:s3cret@localhost:1?tls=false&ca=/x",
          "etcd:locks"
        }) {
      assertThatThrownBy(() -> Fenceline.connect(wrong).close())
          .isInstanceOf(InvalidSettingException.class)
          .hasMessageNotContaining("s3cret");
    }
  }
}
