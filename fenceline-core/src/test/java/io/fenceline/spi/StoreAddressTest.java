package io.fenceline.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.settings.InvalidSettingException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Addresses are taken apart, wrong ones are refused, and none gives its secrets away. */
class StoreAddressTest {

  @Test
  void parts_areFound() {
    StoreAddress address =
        StoreAddress.parse("redis-cluster://app:p%40ss@a:6379,[::1]:6380,c/7?timeout=2s&tls");

    assertThat(address.scheme()).isEqualTo("redis-cluster");
    assertThat(address.user()).contains("app");
    assertThat(address.password()).contains("p@ss");
    assertThat(address.hosts())
        .extracting(String::valueOf)
        .isEqualTo(List.of("a:6379", "[::1]:6380", "c"));
    assertThat(address.path()).isEqualTo("/7");
    assertThat(address.parameters()).containsEntry("timeout", "2s").containsEntry("tls", "");
  }

  @Test
  void plusInAPassword_staysAPlus() {
    assertThat(StoreAddress.parse("redis://:a+b@h").password()).contains("a+b");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://user:CANARY@host:99999",
        "redis://user:CANARY@host:0",
        "redis://user:CANARY@host:x",
        "redis://user:CANARY@host:-1",
        "redis://user:CANARY@:6379",
        "redis://user:CANARY@a,,b",
        "redis://user:CANARY%zz@host",
        "redis://user:CANARY?x@host:1x",
        "redis://user:CANARY/x@host",
        "redis://user:CANARY#x@host:x",
        "redis://user:CANARY@CANARY@host:x",
        "Redis user:CANARY@host",
        ":CANARY@host",
        "redis://host:x?password=CANARY",
        "redis://host:x?Passwd=CANARY&a=b",
        "redis://host:x?sslKey=CANARY",
        "redis://host:x?auth_token=CANARY",
        "redis://host:x?a=b&secret=CANARY",
      })
  void wrongAddress_isRefused_withoutItsSecret(String text) {
    assertThatThrownBy(() -> StoreAddress.parse(text))
        .isInstanceOfSatisfying(
            InvalidSettingException.class,
            refused -> {
              assertThat(refused.setting()).isEqualTo("store address");
              assertThat(refused.value()).doesNotContain("CANARY");
              assertThat(refused).hasMessageNotContaining("CANARY");
            });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://user:CANARY@host:6379/0",
        "redis://:CANARY@host",
        "jdbc:postgresql://db/orders?user=app&password=CANARY",
        "jdbc:mariadb://db/orders?user=app&PASSWORD=CANARY&x=y",
        "zookeeper://digest:CANARY@a:2181,b:2181/chroot",
        "etcd://root:CANARY@a:2379?clientKeyPassword=CANARY",
      })
  void goodAddress_hidesItsSecret(String text) {
    StoreAddress address = StoreAddress.parse(text);

    assertThat(address.toString()).doesNotContain("CANARY").contains("***");
    assertThat(address.invalid("no")).hasMessageNotContaining("CANARY");
    assertThat(address.withoutSecrets()).doesNotContain("CANARY");
    assertThat(address.secretText()).isEqualTo(text);
  }

  @Test
  void addressWithoutSecrets_isShownAsItIs() {
    assertThat(StoreAddress.parse("sqlite:/var/lib/app/locks.db").toString())
        .isEqualTo("sqlite:/var/lib/app/locks.db");
    assertThat(StoreAddress.parse("memory:").path()).isEmpty();
  }
}
