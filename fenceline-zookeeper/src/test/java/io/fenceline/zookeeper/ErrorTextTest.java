package io.fenceline.zookeeper;

import static io.fenceline.testbed.contract.ErrorText.refused;
import static io.fenceline.testbed.contract.ErrorText.unavailable;
import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.LockOptions;
import io.fenceline.testbed.contract.ErrorText;
import io.fenceline.testbed.proxy.Direction;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.ZooKeeperServer;
import io.fenceline.zookeeper.layout.Layout;
import java.time.Duration;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each fault has one line that says what happened and what to do; a refusal ends a wait at once.
 */
@SuppressWarnings("MustBeClosedChecker") // What fails is not there to be closed.
class ErrorTextTest {
  private static final Duration WAIT = ErrorText.BOUND;

  private static final Duration BRIEF = Duration.ofSeconds(1);

  private static Fenceline connect(String address, Duration timeout) {
    return Fenceline.builder()
        .store("zookeeper://" + address + "?session=5s&tick=" + Servers.TICK.toMillis() + "ms")
        .connectTimeout(timeout)
        .defaultOptions(LockOptions.defaults().lease(Duration.ofSeconds(3)))
        .connect();
  }

  static List<ErrorText> rows() {
    String there = Servers.single().address();
    String silent =
        "No ZooKeeper server answered within 1s; check host, port and TLS, and that it runs ";
    return List.of(
        unavailable(
            "connection refused",
            silent + "(store=zookeeper://127.0.0.1:1*)",
            () -> connect("127.0.0.1:1/errors", BRIEF)),
        unavailable(
            "unknown host",
            silent + "(store=zookeeper://no-such-host.invalid:2181*)",
            () -> connect("no-such-host.invalid:2181/errors", BRIEF)),
        refused(
            "folder in use for something else",
            "The folder /foreign/fenceline is in use for something else: it contains 'hello' instead of 'fenceline format 1'; use another folder (store=zookeeper://"
                + there
                + "/foreign/fenceline)",
            () -> {
              try (ZooKeeper admin = LeastRights.admin()) {
                for (String path : List.of("/foreign", "/foreign/fenceline")) {
                  admin.create(
                      path,
                      "hello".getBytes(java.nio.charset.StandardCharsets.UTF_8),
                      ZooDefs.Ids.OPEN_ACL_UNSAFE,
                      CreateMode.PERSISTENT);
                }
              }
              connect(there + "/foreign", WAIT);
            }),
        refused(
            "wrong password",
            "This client has no permission on /login/fenceline*; check the ACL and the login (store=zookeeper://*)",
            () -> {
              connect("app:s3cr3t-canary@" + there + "/login", WAIT).close();
              connect("app:wr0ng@" + there + "/login", WAIT);
            }),
        refused(
            "right taken away after connecting",
            "Claiming lock 'ledger' failed: this client has no permission there; check the ACL and the login (store=zookeeper://*)",
            () -> {
              String folder = "/errors-taken";
              LeastRights.prepare(folder);
              try (Fenceline client =
                      Fenceline.builder()
                          .store(LeastRights.store(there, folder, Servers.SESSION))
                          .connectTimeout(WAIT)
                          .defaultOptions(LockOptions.defaults().lease(Duration.ofSeconds(3)))
                          .connect();
                  ZooKeeper owner = LeastRights.connected(LeastRights.LOGIN)) {
                client.lock("ledger").acquire(WAIT).release();
                owner.setACL(
                    new Layout(folder + "/fenceline").of("ledger"),
                    LeastRights.acl(ZooDefs.Perms.ALL & ~ZooDefs.Perms.CREATE),
                    -1);
                client.lock("ledger").acquire(WAIT);
              }
            }),
        unavailable(
            "TLS to a server without it",
            silent + "(store=zookeeper://" + there + "*)",
            () ->
                Fenceline.builder()
                    .store("zookeeper://" + there + "/errors?session=5s&tick=300ms&tls=true")
                    .connectTimeout(BRIEF)
                    .connect()),
        unavailable(
                "server that is silent",
                silent + "(store=zookeeper://HOST/*)",
                () -> {
                  try (FaultProxy proxy =
                      FaultProxy.to(
                          Servers.single().host(), Servers.single().port(), Protocol.BYTES)) {
                    proxy.stall(Direction.TO_CLIENT);
                    connect(proxy.address() + "/errors", BRIEF);
                  }
                })
            .within(ErrorText.SOON),
        unavailable(
            "server killed while connected",
            "Claiming lock 'ledger' failed: the connection was lost, and the outcome is unknown; check that the server runs (store=zookeeper://HOST/errors/fenceline)",
            () -> {
              try (ZooKeeperServer mortal = ZooKeeperServer.start(Servers.TICK);
                  Fenceline client = connect(mortal.address() + "/errors", WAIT)) {
                client.lock("ledger").acquire(WAIT).release();
                mortal.kill();
                assertThat(client.lock("ledger").tryAcquire()).isEmpty();
              }
            }));
  }

  @ParameterizedTest
  @MethodSource("rows")
  void fault_isNamed(ErrorText row) {
    row.check("canary", "wr0ng");
  }
}
