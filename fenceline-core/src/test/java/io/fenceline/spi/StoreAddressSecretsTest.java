package io.fenceline.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.settings.InvalidSettingException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StoreAddressSecretsTest {

  @ParameterizedTest
  @CsvSource({
    "sqlite:/var/lib/locks.db, sqlite:/var/lib/locks.db",
    "redis://cache:6379/0?timeout=2s, redis://cache:6379/0?timeout=2s",
    "redis://app:hunter2@cache:6379/0, redis://app@cache:6379/0",
    "redis://:hunter2@cache, redis://cache",
    "redis://app:hun:ter@2@cache, redis://app@cache",
    "redis://app@cache, redis://app@cache",
    "jdbc:postgresql://db/o?user=app&password=hunter2, jdbc:postgresql://db/o?user=app",
    "jdbc:postgresql://db/o?password=hunter2, jdbc:postgresql://db/o",
    "etcd://a:1:hunter2@b, etcd://a@b",
  })
  void anAddressForAnotherProcess_hasNoSecret_andNoTraceOfOne(String given, String expected) {
    assertThat(StoreAddress.parse(given).withoutSecrets()).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "sqlite:/var/lib/locks.db, true",
    "redis://app:hunter2@cache:6379/3, true",
    "redis-sentinel://h?master=m&sentinelPassword=hunter2, true",
    "jdbc:postgresql://db/o?user=app&password=hunter2, true",
    "zookeeper://a/x?trustStore=t.p12&trustStorePassword=hunter2, true",
    "redis-sentinel://h?sentinelPassword=hunter2&master=m, false",
    "jdbc:postgresql://db/o?password=hunter2&currentSchema=x, false",
    "jdbc:postgresql://db/o?password=hunter2&sslmode=require, false",
    "zookeeper://a?keyStore=k.p12&keyStorePassword=hunter2, false",
    "etcd://a?cert=c.pem&key=k.pem, false",
    "jdbc:postgresql://app:hunter2@db/o, false",
    "sqlite:/var/token:x/locks.db, false",
    "redis://a%40b:hunter2@cache, false",
    "sqlite:/0&tls=true&accessKey=hunter2, false",
  })
  void anAddressForAnotherProcess_leadsToTheSamePlace_orThereIsNone(String given, boolean has) {
    StoreAddress address = StoreAddress.parse(given);
    assertThat(address.forOthers().isPresent()).isEqualTo(has);
    assertThat(address + address.withoutSecrets()).doesNotContain("hunter2");
    address.forOthers().ifPresent(text -> assertThat(text).isEqualTo(address.withoutSecrets()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "jdbc:postgresql://db/o?sslrootcert=ca.pem&ssl%6dode=verify-full&password=hunter2",
        "jdbc:mariadb://db/o?p%61ssword=hunter2",
      })
  void aNameThatADriverWouldNotRead_isRefused(String url) {
    assertThatThrownBy(() -> StoreAddress.parse(url))
        .isInstanceOf(InvalidSettingException.class)
        .hasMessageContaining("plainly")
        .hasMessageNotContaining("hunter2");
  }
}
