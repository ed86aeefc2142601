package io.fenceline.etcd;

import static io.fenceline.testbed.contract.ErrorText.refused;
import static io.fenceline.testbed.contract.ErrorText.unavailable;
import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.testbed.contract.ErrorText;
import io.fenceline.testbed.process.HarnessException;
import io.fenceline.testbed.proxy.Direction;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.EtcdServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each fault has one line that says what happened and what to do; a refusal ends a wait at once.
 */
@SuppressWarnings("MustBeClosedChecker") // What fails is not there to be closed.
class EtcdErrorTextTest {
  private static final Duration WAIT = ErrorText.BOUND;

  /** For a server that never answers; whatever else fails, fails as soon as it is known. */
  private static final Duration BRIEF = Duration.ofSeconds(1);

  private static final String LOCKS = "/fenceline/lock/";
  private static final int FULL_BYTES = 1 << 20;

  private static EtcdServer etcd;
  private static EtcdServer tls;
  private static EtcdServer full;

  @BeforeAll
  static void start() {
    etcd = LeastRights.server();
    tls = EtcdServer.startWithTls();
    full = EtcdServer.start("--quota-backend-bytes=" + FULL_BYTES);
  }

  @AfterAll
  static void stop() {
    for (EtcdServer server : List.of(etcd, tls, full)) {
      server.close();
    }
  }

  private static Fenceline connect(String uri, Duration timeout) {
    return Fenceline.builder().store(uri).connectTimeout(timeout).connect();
  }

  /** A server that ends a TLS handshake may be heard, or be gone before it is. */
  static List<ErrorText> rows() {
    return List.of(
        unavailable(
            "connection refused",
            "etcd gave no answer: nothing listens there; check host and port, and that it runs [*Connection refused] (store=etcd://127.0.0.1:1)",
            () -> connect("etcd://127.0.0.1:1", WAIT)),
        unavailable(
            "unknown host",
            "etcd gave no answer: the host is not known; check the address [*] (store=etcd://no-such-host.invalid)",
            () -> connect("etcd://no-such-host.invalid", WAIT)),
        refused(
            "wrong password",
            "Connecting failed: etcd refused the login; check user and password [*] (store=etcd://*)",
            () -> connect("etcd://app:wr0ng@" + etcd.address(), WAIT)),
        refused(
            "missing right at connect",
            "Connecting, which needs readwrite on the key /elsewhere/format and on the prefix /elsewhere/lock/, failed: the user lacks a right; grant it readwrite on the prefix, see docs/least-rights.md [etcdserver: permission denied] (store=etcd://*)",
            () -> connect(LeastRights.uri(etcd.address()) + "/elsewhere", WAIT)),
        refused(
            "right taken away after connecting",
            "The claim of lock 'ledger' failed: the user lacks a right; grant it readwrite on the prefix, see docs/least-rights.md [etcdserver: permission denied] (store=etcd://*)",
            () -> {
              try (Fenceline client = connect(LeastRights.uri(etcd.address()), WAIT)) {
                LeastRights.grant(etcd, "read", LOCKS);
                try {
                  client.lock("ledger").acquire(WAIT);
                } finally {
                  LeastRights.grant(etcd, "readwrite", LOCKS);
                }
              }
            }),
        unavailable(
            "TLS to a server without it",
            "etcd gave no answer: the server * TLS* [*] (store=etcd://*)",
            () -> connect("etcd://" + full.address() + "?tls=true", WAIT)),
        unavailable(
            "no TLS to a server that wants it",
            "etcd gave no answer: the server closed the connection; check that it runs, and that both sides speak TLS (ca, cert, key) or neither [*] (store=etcd://*)",
            () -> connect("etcd://" + tls.tlsAddress(), WAIT)),
        unavailable(
            "untrusted certificate",
            "etcd gave no answer: the server's certificate is not trusted; name its authority with ca [*] (store=etcd://*)",
            () -> connect("etcd://" + tls.tlsAddress() + "?tls=true", WAIT)),
        unavailable(
            "no certificate to a server that wants one",
            "etcd gave no answer: the server *cert* [*] (store=etcd://*)",
            () ->
                connect(
                    "etcd://" + tls.tlsAddress() + "?ca=" + tls.tlsFiles().caCertificate(), WAIT)),
        unavailable(
                "server that is silent",
                "No server answered within 1s; check host, port and TLS, and that it runs (store=etcd://HOST)",
                () -> {
                  try (FaultProxy proxy = FaultProxy.to(full.host(), full.port(), Protocol.BYTES)) {
                    proxy.stall(Direction.TO_CLIENT);
                    connect("etcd://" + proxy.address(), BRIEF);
                  }
                })
            .within(ErrorText.SOON),
        unavailable(
            "key of another format",
            "Lock 'foreign' can't be granted: the key '/fenceline/lock/foreign!1-0' is not of this version of Fenceline (*); delete it if no such client runs (store=etcd://HOST)",
            () -> {
              full.etcdctl("put", LOCKS + "foreign!1-0", "of another version");
              try (Fenceline client = connect("etcd://" + full.address(), WAIT)) {
                assertThat(client.lock("foreign").tryAcquire()).isEmpty();
              }
            }),
        refused(
            "space used up",
            "The claim of lock 'ledger' failed: etcd's space is used up; compact and defragment it, or raise its quota [*database space exceeded*] (store=etcd://*)",
            () -> {
              try (Fenceline client = connect("etcd://" + full.address(), WAIT)) {
                fill(full);
                client.lock("ledger").acquire(WAIT);
              }
            }),
        unavailable(
            "server killed while connected",
            "etcd gave no answer: *; check *that it runs* [*] (store=etcd://HOST)",
            () -> {
              try (EtcdServer mortal = EtcdServer.start();
                  Fenceline client = connect("etcd://" + mortal.address(), WAIT)) {
                client.lock("ledger").acquire(WAIT).release();
                mortal.kill();
                assertThat(client.lock("ledger").tryAcquire()).isEmpty();
              }
            }));
  }

  /** Writes until etcd takes no more; from then on it takes reads and deletes only. */
  private static void fill(EtcdServer server) {
    String part = "x".repeat(FULL_BYTES / 16);
    HarnessException refused = null;
    for (int i = 0; refused == null && i < 100; i++) {
      try {
        server.etcdctl("put", "/fill/" + i, part);
      } catch (HarnessException e) {
        refused = e;
      }
    }
    assertThat(refused).hasMessageContaining("database space exceeded");
  }

  @ParameterizedTest
  @MethodSource("rows")
  void fault_isNamed(ErrorText row) {
    row.check(LeastRights.PASSWORD, "wr0ng");
  }
}
