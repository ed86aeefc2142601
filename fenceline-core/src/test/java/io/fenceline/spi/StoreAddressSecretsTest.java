package io.fenceline.spi;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
}
