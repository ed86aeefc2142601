package io.fenceline.redis.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.redis.layout.Layout;
import io.fenceline.redis.support.Clients;
import io.fenceline.redis.support.Stores;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Owner;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.testbed.server.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A stranger writes to a key of one name: the other holds of the client live on. */
class StrangersKeyTest {
  private static RedisServer redis;
  private static Stores.Opened opened;

  @BeforeAll
  static void start() {
    redis = RedisServer.start();
    opened = Stores.open(redis.uri());
  }

  @AfterAll
  static void stop() {
    opened.store().close();
    redis.close();
  }

  private static RenewRequest hold(String name, Mode mode) {
    return Clients.get(
        Stores.claim(
            opened,
            new ClaimRequest(
                name,
                Owner.draw(opened.random()),
                mode,
                Duration.ofMinutes(5),
                Duration.ZERO,
                false)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"exclusive", "shared"})
  void renewalOfAnotherName_doesNotFailWithIt(String kind) {
    Mode mode = kind.equals("shared") ? Mode.SHARED : Mode.EXCLUSIVE;
    List<RenewRequest> held = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      held.add(hold(kind + i, mode));
    }
    String head = Layout.headOf(kind + 1);
    redis.command("DEL", head);
    redis.command("RPUSH", head, "a stranger's");

    List<CompletableFuture<Renewal>> answers = opened.store().renew(held);

    assertThat(Clients.get(answers.get(0))).isInstanceOf(Renewal.Renewed.class);
    assertThat(Clients.get(answers.get(2))).isInstanceOf(Renewal.Renewed.class);
    assertThatThrownBy(answers.get(1)::join).hasMessageContaining("not Fenceline's");
  }
}
