package io.fenceline.redis.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.redis.RedisStores;
import io.fenceline.redis.diagnostics.ServerCheck;
import io.fenceline.settings.InvalidSettingException;
import io.lettuce.core.cluster.SlotHash;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The format of the keys, which must never change under its prefix, and the addresses. */
class LayoutTest {

  private static List<String> keys(String name) {
    return Arrays.stream(Layout.place(name).keys())
        .map(key -> new String(key, StandardCharsets.UTF_8))
        .toList();
  }

  @Test
  void keysOfAName_areThoseOfFormatOne() {
    // If this fails, clients of two versions no longer see each other's locks: change the prefix.
    assertThat(keys("ledger"))
        .containsExactly(
            "fl1:{188}:ledger",
            "fl1:{188}r:ledger",
            "fl1:{188}d:ledger",
            "fl1:{188}q:ledger",
            "fl1:{188}#");
    assertThat(Layout.place("帳本").bucket()).isEqualTo(244);
  }

  @Test
  void keysOfAName_areInOneSlot_evenIfTheNameHasBraces() {
    for (String name : List.of("ledger", "{a}b", "}{", "{}", "x}:{y")) {
      Set<Integer> slots =
          Arrays.stream(Layout.place(name).keys())
              .map(SlotHash::getSlot)
              .collect(Collectors.toSet());
      assertThat(slots).hasSize(1);
    }
  }

  @Test
  void namesSpreadOverTheBuckets() {
    Set<Integer> used =
        IntStream.range(0, 10_000)
            .mapToObj(i -> Layout.place("order-" + i).bucket())
            .collect(Collectors.toSet());
    assertThat(used).hasSize(Layout.BUCKETS);
  }

  @Test
  void head_tellsItsName_andOtherKeysDoNot() {
    assertThat(Layout.nameOfHead(Layout.place("a}:b").keys()[0])).isEqualTo("a}:b");
    assertThat(Layout.nameOfHead(Layout.place("x").keys()[1])).isEmpty();
    assertThat(Layout.nameOfHead(Layout.bytes("fl1:{0}:not-of-this-bucket"))).isEmpty();
    assertThat(Layout.nameOfHead(Layout.bytes("elsewhere"))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis:",
        "redis://",
        "redis://a,b",
        "redis://host/letters",
        "redis://host?unknown=1",
        "redis://user@host",
        "redis://host?wait=many",
        "redis://host?waitTimeout=1s",
        "redis://host?wait=1&waitTimeout=soon",
        "redis://host?tls=perhaps",
        "rediss://host?tlsVerify=none",
        "rediss://host?tlsCa=/there/is/none",
        "redis-sentinel://a,b",
        "valkey://a,b",
        "valkey-sentinel://a,b",
        "valkey-cluster://a,b/1",
        "redis-cluster://a,b/1"
      })
  void addressThatIsNone_isRefused(String uri) {
    assertThatThrownBy(() -> RedisStores.at(uri)).isInstanceOf(InvalidSettingException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://host",
        "redis://user:secret@host:1234/3?wait=2&waitTimeout=500ms",
        "rediss://:secret@[::1]:6380?tlsVerify=ca",
        "redis-sentinel://a:1,b,c/0?master=m&sentinelPassword=secret",
        "redis-cluster://a,b:7001?tls=true",
        "valkey://user:secret@host:1234/3?wait=2&waitTimeout=500ms",
        "valkeys://:secret@[::1]:6380?tlsVerify=ca",
        "valkey-sentinel://a:1,b,c/0?master=m&sentinelPassword=secret",
        "valkey-cluster://a,b:7001?tls=true"
      })
  void address_isTaken_andItsSecretIsNotShown(String uri) {
    assertThat(RedisStores.at(uri).toString()).doesNotContain("secret@").doesNotContain("=secret");
  }

  @Test
  void oldServer_isRefused() {
    assertThatThrownBy(() -> ServerCheck.checkVersion("5.0.14", "redis://old"))
        .isInstanceOf(InvalidSettingException.class)
        .hasMessageContaining("5.0.14")
        .hasMessageContaining("6.0");
    assertThatCode(() -> ServerCheck.checkVersion("6.0.0", "redis://new"))
        .doesNotThrowAnyException();
    assertThatCode(() -> ServerCheck.checkVersion("10.1", "redis://new"))
        .doesNotThrowAnyException();
  }
}
