package io.fenceline.etcd;

import static io.fenceline.testbed.contract.ErrorText.refused;
import static io.fenceline.testbed.contract.ErrorText.unavailable;

import io.fenceline.Fenceline;
import io.fenceline.testbed.contract.ErrorText;
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

  private static final Duration BRIEF = Duration.ofSeconds(1);
  private static final String LOCKS = "/fenceline/lock/";

  private static EtcdServer etcd;

  @BeforeAll
  static void start() {
    etcd = LeastRights.server();
  }

  @AfterAll
  static void stop() {
    etcd.close();
  }

  private static Fenceline connect(String uri, Duration timeout) {
    return Fenceline.builder().store(uri).connectTimeout(timeout).connect();
  }

  static List<ErrorText> rows() {
    return List.of(
        unavailable(
            "connection refused",
            "etcd gave no answer: nothing listens there; check host and port, and that it runs [*Connection refused] (store=etcd://127.0.0.1:1)",
            () -> connect("etcd://127.0.0.1:1", BRIEF)),
        unavailable(
            "unknown host",
            "etcd gave no answer: the host is not known; check the address [*] (store=etcd://no-such-host.invalid)",
            () -> connect("etcd://no-such-host.invalid", BRIEF)),
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
            }));
  }

  @ParameterizedTest
  @MethodSource("rows")
  void fault_isNamed(ErrorText row) {
    row.check(LeastRights.PASSWORD, "wr0ng");
  }
}
