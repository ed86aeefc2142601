package io.fenceline.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.StoreRefusedException;
import io.fenceline.diagnosis.Finding;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testkit.Eventually;
import io.fenceline.zookeeper.layout.Layout;
import java.time.Duration;
import java.util.List;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The rights of docs/least-rights.md, one by one. {@link SingleServerContractTest} runs the
 * contract with exactly these.
 */
@SuppressWarnings("MustBeClosedChecker") // What is to be refused is not there to be closed.
class RightsTest {
  private static final int READ = ZooDefs.Perms.READ;
  private static final int WRITE = ZooDefs.Perms.WRITE;
  private static final int CREATE = ZooDefs.Perms.CREATE;
  private static final int DELETE = ZooDefs.Perms.DELETE;

  private static Fenceline connect(StoreFactory store) {
    return Fenceline.builder()
        .store(store)
        .connectTimeout(Duration.ofSeconds(20))
        .defaultOptions(LockOptions.defaults().lease(Duration.ofSeconds(3)))
        .connect();
  }

  private static StoreFactory store(String folder) {
    return LeastRights.store(Servers.single().address(), folder, Servers.SESSION);
  }

  private static List<String> missing(Fenceline client) {
    return client.diagnose().stream()
        .filter(finding -> finding.check().equals("permissions"))
        .filter(finding -> finding.severity() == Finding.Severity.SERIOUS)
        .map(Finding::found)
        .toList();
  }

  @ParameterizedTest
  @CsvSource({"root,read", "heartbeat,write", "locks,read", "locks,create"})
  void aRightThatIsTakenAway_isNamedByTheDoctor(String where, String right) throws Exception {
    String folder = "/taken-%s-%s".formatted(where, right);
    LeastRights.prepare(folder);
    String node = where.equals("root") ? "/fenceline" : "/fenceline/" + where;
    int taken = right.equals("read") ? READ : right.equals("write") ? WRITE : CREATE;
    int before = LeastRights.NODES.get(node);
    try (Fenceline client = connect(store(folder));
        ZooKeeper admin = LeastRights.admin()) {
      assertThat(missing(client)).isEmpty();

      admin.setACL(folder + node, LeastRights.acl(before & ~taken), -1);
      assertThat(missing(client))
          .containsExactly("this login has no right to " + right + " at " + folder + node);

      admin.setACL(folder + node, LeastRights.acl(before), -1);
      assertThat(missing(client)).isEmpty();
      client.lock("fine").tryAcquire().orElseThrow().release();
      assertThat(admin.getChildren(folder + "/fenceline/locks", false))
          .as("the doctor has left nothing")
          .hasSize(1);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "shard,read",
    "shard,create",
    "name,read",
    "name,create",
    "name,delete",
    "claim,read"
  })
  void aRightThatIsMissingAtANodeOfAnother_isNamedByTheDoctor(String where, String right)
      throws Exception {
    String folder = "/others-%s-%s".formatted(where, right);
    LeastRights.prepare(folder);
    Layout paths = new Layout(folder + "/fenceline");
    int taken =
        switch (right) {
          case "read" -> READ;
          case "create" -> CREATE;
          default -> DELETE;
        };
    try (Fenceline client = connect(store(folder));
        ZooKeeper owner = LeastRights.connected(LeastRights.LOGIN)) {
      Hold hold = client.lock("job").tryAcquire().orElseThrow();
      String name = paths.of("job");
      String node =
          switch (where) {
            case "shard" -> paths.shardOf("job");
            case "name" -> name;
            default -> name + "/" + owner.getChildren(name, false).get(0);
          };

      owner.setACL(node, LeastRights.acl(ZooDefs.Perms.ALL & ~taken), -1);
      assertThat(missing(client))
          .containsExactly("this login has no right to " + right + " at " + node);

      owner.setACL(node, LeastRights.acl(ZooDefs.Perms.ALL), -1);
      assertThat(missing(client)).isEmpty();
      hold.release();
    }
  }

  @ParameterizedTest
  @CsvSource({"read", "write", "create", "delete"})
  void anAclThatShutsTheClientOut_isNamedByTheDoctor(String right) throws Exception {
    String folder = "/shut-out-" + right;
    LeastRights.prepare(folder);
    int taken =
        switch (right) {
          case "read" -> READ;
          case "write" -> WRITE;
          case "create" -> CREATE;
          default -> DELETE;
        };
    List<ACL> acl = List.copyOf(LeastRights.acl(ZooDefs.Perms.ALL & ~taken));
    ACLProvider provider =
        new ACLProvider() {
          @Override
          public List<ACL> getDefaultAcl() {
            return acl;
          }

          @Override
          public List<ACL> getAclForPath(String path) {
            return acl;
          }
        };
    try (Fenceline client = connect(((ZooKeeperStores) store(folder)).acl(provider))) {
      assertThat(missing(client))
          .containsExactly(
              "this login has no right to "
                  + right
                  + " at nodes that it makes itself, by the ACL that it gives them");
    }
  }

  @Test
  void whoMayNotReadTheFolder_isTold() throws Exception {
    LeastRights.prepare("/unreadable");
    try (ZooKeeper admin = LeastRights.admin()) {
      admin.setACL("/unreadable/fenceline", LeastRights.acl(0), -1);
    }
    assertThatThrownBy(() -> connect(store("/unreadable")))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("no permission on /unreadable/fenceline")
        .hasMessageNotContaining("s3cr3t");
  }

  @Test
  void aWaiterIsGranted_withTheseRights() throws Exception {
    LeastRights.prepare("/waits");
    try (Fenceline a = connect(store("/waits"));
        Fenceline b = connect(store("/waits"))) {
      Hold hold = a.lock("job").tryAcquire().orElseThrow();
      var waiting = b.lock("job").acquireAsync(Fleet.AMPLE);
      Eventually.until(Fleet.AMPLE, "the wait", () -> a.inspect("job").waiters().size() == 1);
      hold.release();
      assertThat(Fleet.get(waiting).token()).isGreaterThan(hold.token());
    }
  }
}
