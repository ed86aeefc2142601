package io.fenceline.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.diagnosis.Finding;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.settings.Durations;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.StoreAddress;
import io.fenceline.zookeeper.layout.Layout;
import io.fenceline.zookeeper.session.Heartbeat;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Addresses, logins, limits, and what the doctor says of them. */
@SuppressWarnings("MustBeClosedChecker") // What is to be refused is not there to be closed.
class AccessTest {
  private static final String ADDRESS = Servers.single().address();

  private static Fenceline connect(String login, String folder) {
    return Fenceline.builder()
        .store("zookeeper://%s%s/%s?session=5s&tick=250ms".formatted(login, ADDRESS, folder))
        .connectTimeout(Duration.ofSeconds(20))
        .connect();
  }

  @Test
  void nodesOfALogin_areItsOwn() {
    try (Fenceline owner = connect("app:s3cr3t-canary@", "private")) {
      LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(2));
      Hold hold = owner.lock("mine", options).tryAcquire().orElseThrow();
      assertThat(hold.isValid()).isTrue();
      assertThat(owner.toString() + owner.store()).doesNotContain("s3cr3t");

      assertThatThrownBy(() -> deleteByAStranger("mine"))
          .as("the node of the hold is the login's alone")
          .isInstanceOf(KeeperException.NoAuthException.class);
      assertThat(hold.isValid()).isTrue();
      assertThatThrownBy(() -> connect("", "private"))
          .isInstanceOf(StoreRefusedException.class)
          .hasMessageContaining("no permission");
      assertThatThrownBy(() -> connect("app:wrong@", "private"))
          .isInstanceOf(StoreRefusedException.class)
          .hasMessageNotContaining("wrong");
      assertThat(owner.diagnose()).anyMatch(finding -> isOk(finding, "permissions"));
    }
  }

  @Test
  void addressOfThePage_hasNodesOfItsOwn() throws Exception {
    String uri =
        PageAddress.startingWith("zookeeper://app:SECRET@a:2181")
            .replace("a:2181,b:2181,c:2181", ADDRESS)
            .replace("/shop", "/page");
    Duration patience = Duration.ofSeconds(20);
    LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(2));
    try (Fenceline owner = Fenceline.builder().store(uri).connectTimeout(patience).connect()) {
      Hold hold = owner.lock("mine", options).tryAcquire().orElseThrow();
      assertThat(hold.isValid()).isTrue();
      assertThatThrownBy(() -> connect("", "page"))
          .isInstanceOf(StoreRefusedException.class)
          .hasMessageContaining("no permission");
      assertThat(owner.diagnose()).anyMatch(finding -> isOk(finding, "permissions"));
    }
    assertThatThrownBy(
            () ->
                Fenceline.builder()
                    .store(uri.replace("SECRET", "wrong"))
                    .connectTimeout(patience)
                    .connect())
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("no permission");
    try (Fenceline open =
        Fenceline.builder()
            .store(uri.replace("/page", "/open") + "?acl=open")
            .connectTimeout(patience)
            .connect()) {
      open.lock("anybodys", options).tryAcquire().orElseThrow().release();
      connect("", "open").close();
    }
  }

  @ParameterizedTest
  @CsvSource({"40s, 2s, 30.9", "20s, 2s, 14.4", "10s, 2s, 6.2", "5s, 250ms, 3.8"})
  void longestLease_isThatOfThePage(String session, String tick, String longest) throws Exception {
    String row = "| %s | %s | %ss |".formatted(session, tick, longest);
    assertThat(Files.readString(Path.of("../docs/zookeeper.md"))).contains(row);
    Duration lease =
        Heartbeat.longestLease(Durations.parse("session", session), Durations.parse("tick", tick));
    assertThat(lease.toMillis() / 100).isEqualTo(Long.parseLong(longest.replace(".", "")));
  }

  @Test
  void theFrameworksOwnAcl_isTheOneOfTheNodes() throws Exception {
    byte[] login = "app:s3cr3t-canary".getBytes(StandardCharsets.UTF_8);
    ACLProvider creators =
        new ACLProvider() {
          @Override
          public List<ACL> getDefaultAcl() {
            return ZooDefs.Ids.CREATOR_ALL_ACL;
          }

          @Override
          public List<ACL> getAclForPath(String path) {
            return ZooDefs.Ids.CREATOR_ALL_ACL;
          }
        };
    try (CuratorFramework curator =
        CuratorFrameworkFactory.builder()
            .connectString(ADDRESS)
            .sessionTimeoutMs(5_000)
            .retryPolicy(new RetryOneTime(100))
            .authorization("digest", login)
            .aclProvider(creators)
            .build()) {
      curator.start();
      ZooKeeperStores locks =
          ZooKeeperStores.from(curator).root("/private-too/fenceline").tick(Duration.ofMillis(250));
      try (Fenceline owner = Fenceline.builder().store(locks).connect()) {
        LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(2));
        Hold hold = owner.lock("mine", options).tryAcquire().orElseThrow();
        String line = new Layout("/private-too/fenceline").of("mine");
        String node = line + "/" + curator.getChildren().forPath(line).get(0);
        for (String path : List.of("/private-too/fenceline", line, node)) {
          assertThat(curator.getACL().forPath(path))
              .as(path)
              .noneMatch(acl -> acl.getId().equals(ZooDefs.Ids.ANYONE_ID_UNSAFE));
        }
        hold.release();
      }
    }
  }

  private static void deleteByAStranger(String name) throws Exception {
    String line = new Layout("/private/fenceline").of(name);
    try (ZooKeeper owner = connected("owner", "app:s3cr3t-canary");
        ZooKeeper stranger = connected("stranger", "other:login")) {
      String node = line + "/" + owner.getChildren(line, false).get(0);
      stranger.delete(node, -1);
    }
  }

  private static ZooKeeper connected(String label, String login) throws Exception {
    CompletableFuture<String> connected = new CompletableFuture<>();
    ZooKeeper client = new ZooKeeper(ADDRESS, 10_000, event -> connected.complete(label));
    Fleet.get(connected);
    client.addAuthInfo("digest", login.getBytes(StandardCharsets.UTF_8));
    return client;
  }

  private static boolean isOk(Finding finding, String check) {
    return finding.check().equals(check) && finding.severity() == Finding.Severity.OK;
  }

  @Test
  void doctor_saysWhatAnOperatorShouldKnow() {
    try (Fenceline client = connect("", "looked-over")) {
      List<Finding> findings = client.diagnose();
      assertThat(findings)
          .extracting(Finding::check)
          .contains("ensemble", "heartbeat", "session", "permissions");
      assertThat(findings)
          .filteredOn(finding -> finding.check().equals("session"))
          .singleElement()
          .satisfies(finding -> assertThat(finding.found()).contains("sessions of 5s"));
      assertThat(findings)
          .filteredOn(finding -> finding.check().equals("permissions"))
          .singleElement()
          .satisfies(finding -> assertThat(finding.severity()).isEqualTo(Finding.Severity.NOTE));
    }
  }

  @Test
  void leaseThatTheSessionCantKeep_isRefusedWithTheFigures() {
    try (Fenceline client = connect("", "refused")) {
      LockOptions tooLong = LockOptions.defaults().lease(Duration.ofSeconds(5));
      assertThatThrownBy(() -> client.lock("long", tooLong))
          .isInstanceOf(InvalidSettingException.class)
          .hasMessageContaining("lease 5s")
          .hasMessageContaining("a ZooKeeper session of 5s can keep leases of up to 3.866s");
      assertThat(client.guarantees().gives(Guarantee.LINEARIZABLE)).isTrue();
    }
  }

  @Test
  void lockDelay_isRefusedAtConnect() {
    assertThatThrownBy(
            () ->
                Fenceline.builder()
                    .store("zookeeper://" + ADDRESS)
                    .require(Guarantee.LOCK_DELAY)
                    .connect())
        .isInstanceOf(InvalidSettingException.class);
  }

  @Test
  void folderOfSomethingElse_isNotTouched() throws Exception {
    try (var curator =
        org.apache.curator.framework.CuratorFrameworkFactory.newClient(
            ADDRESS, new org.apache.curator.retry.RetryOneTime(100))) {
      curator.start();
      curator
          .create()
          .creatingParentsIfNeeded()
          .forPath("/taken/fenceline", "fenceline format 9".getBytes());
    }
    assertThatThrownBy(() -> connect("", "taken"))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("'fenceline format 9' instead of 'fenceline format 1'");
  }

  @Test
  void noServer_isSaidWithinTheTimeout() {
    assertThatThrownBy(
            () ->
                Fenceline.builder()
                    .store("zookeeper://127.0.0.1:1")
                    .connectTimeout(Duration.ofMillis(300))
                    .connect())
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("No ZooKeeper server answered within 300ms");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "zookeeper:",
        "zookeeper://a:2181?sesion=4s",
        "zookeeper://a:2181?session=4",
        "zookeeper://a:2181?acl=mine",
        "zookeeper://a:2181?tls=maybe",
        "zookeeper://a:2181?tls=false&trustStore=x.p12",
        "zookeeper://a:2181?keyStorePassword=x&tls=false",
        "zookeeper://app@a:2181",
        "zookeeper://app:@a:2181",
        "zookeeper://a:2181/a//b"
      })
  void wrongAddress_isRefused(String uri) {
    assertThatThrownBy(() -> new ZooKeeperProvider().at(StoreAddress.parse(uri)))
        .isInstanceOf(InvalidSettingException.class);
  }
}
