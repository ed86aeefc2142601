package io.fenceline.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.StoreRefusedException;
import io.fenceline.diagnosis.Finding;
import io.fenceline.testbed.server.EtcdServer;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The rights of docs/least-rights.md, one by one. {@link EtcdContractTest} runs the contract with
 * exactly these.
 */
@Execution(ExecutionMode.SAME_THREAD)
@SuppressWarnings("MustBeClosedChecker") // what should not connect needs no closing
class EtcdRightsTest {
  private static final Duration BOUND = Duration.ofSeconds(40);
  private static final String FORMAT = "/fenceline/format";
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

  private static Fenceline connect() {
    return Fenceline.builder()
        .store(LeastRights.uri(etcd.address()))
        .connectTimeout(BOUND)
        .connect();
  }

  private static List<Finding> missing(Fenceline client) {
    return client.diagnose().stream()
        .filter(finding -> finding.check().equals("permissions"))
        .filter(finding -> finding.severity() == Finding.Severity.SERIOUS)
        .toList();
  }

  @ParameterizedTest
  @CsvSource({
    "/fenceline/format, write, may not read /fenceline/format",
    "/fenceline/format, read, may not write /fenceline/format",
    "/fenceline/lock/, write, may not read keys below /fenceline/lock/",
    "/fenceline/lock/, read, may not write keys below /fenceline/lock/",
  })
  void aRightThatIsTakenAway_isNamedByTheDoctor(String where, String left, String named) {
    try (Fenceline client = connect()) {
      assertThat(missing(client)).isEmpty();
      LeastRights.grant(etcd, left, where);
      try {
        // It may take a request until the client has a token of the new rights.
        List<Finding> found =
            Eventually.until(
                BOUND, "the finding", () -> missing(client), all -> all.toString().contains(named));

        assertThat(found).hasSize(1);
        assertThat(found.get(0).advice())
            .startsWith("etcdctl role grant-permission ROLE ")
            .endsWith("readwrite " + where);
      } finally {
        LeastRights.grant(etcd, "readwrite", where);
      }
      Eventually.until(BOUND, "no finding", () -> missing(client).isEmpty());
    }
  }

  @Test
  void whoMayNotReadTheFormat_isToldWhichRightsAreNeeded() {
    LeastRights.grant(etcd, "write", FORMAT);
    try {
      assertThatThrownBy(EtcdRightsTest::connect)
          .isInstanceOf(StoreRefusedException.class)
          .hasMessageContaining("permission denied")
          .hasMessageContaining(FORMAT)
          .hasMessageContaining(LOCKS)
          .hasMessageNotContaining(LeastRights.PASSWORD);
    } finally {
      LeastRights.grant(etcd, "readwrite", FORMAT);
    }
  }
}
