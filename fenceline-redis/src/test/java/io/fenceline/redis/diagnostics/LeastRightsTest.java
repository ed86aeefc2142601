package io.fenceline.redis.diagnostics;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.diagnosis.Finding;
import io.fenceline.redis.support.Clients;
import io.fenceline.redis.support.DocumentedRights;
import io.fenceline.redis.support.SmallCluster;
import io.fenceline.testbed.server.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A user that lacks one of the rights in docs/redis.md is told which. */
class LeastRightsTest {
  private static final Duration LEASE = Duration.ofSeconds(60);
  private static final Set<String> OF_CLUSTER =
      Set.of("cluster|slots", "asking", "spublish", "ssubscribe");

  @RegisterExtension final Clients clients = new Clients();

  /** What {@code doctor} complains of, or why there is no connection to ask it. */
  private String complaints(String uri) {
    try {
      Fenceline client = clients.connect(DocumentedRights.uri(uri), LEASE);
      List<Finding> found = client.diagnose();
      clients.afterEach(null);
      return found.stream()
          .filter(finding -> finding.severity() != Finding.Severity.OK)
          .map(Finding::found)
          .collect(Collectors.joining("\n"))
          .toLowerCase(Locale.ROOT);
    } catch (StoreUnavailableException | StoreRefusedException e) {
      return String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT);
    }
  }

  private static String spoken(String command) {
    return command.replace('|', ' ');
  }

  @Test
  void oneServer_anyRightThatIsMissing_isNamed() {
    try (RedisServer redis = RedisServer.start()) {
      String uri = redis.uri() + "/1?wait=1"; // So that all of them are needed.
      DocumentedRights.grant(redis);
      assertThat(complaints(uri)).doesNotContain("failed", "may not");
      for (String command : DocumentedRights.commands()) {
        if (!OF_CLUSTER.contains(command)) {
          DocumentedRights.grant(redis, "+" + command);
          assertThat(complaints(uri).replace('|', ' '))
              .as("without " + command)
              .containsPattern("(^|[^a-z])" + spoken(command) + "([^a-z]|$)");
        }
      }
      DocumentedRights.grant(redis, "~fl1:*");
      assertThat(complaints(uri)).contains("keys");
      DocumentedRights.grant(redis, "&fl1:*");
      assertThat(complaints(uri)).contains("publish", "subscribe", "channel");
    }
  }

  @Test
  void cluster_anyRightThatOnlyItNeeds_isNamed() {
    try (SmallCluster cluster = new SmallCluster(0, 1)) {
      RedisServer node = cluster.sharing(0);
      String uri = SmallCluster.uri(node);
      DocumentedRights.grant(node);
      assertThat(complaints(uri)).doesNotContain("failed", "may not");
      for (String command : OF_CLUSTER) {
        DocumentedRights.grant(node, "+" + command);
        assertThat(complaints(uri).replace('|', ' '))
            .as("without " + command)
            .containsPattern("(^|[^a-z])" + spoken(command) + "([^a-z]|$)");
      }
    }
  }
}
