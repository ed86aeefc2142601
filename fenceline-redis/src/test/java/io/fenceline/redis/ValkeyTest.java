package io.fenceline.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.spi.StoreKind;
import io.fenceline.testbed.server.NeedsValkey;
import io.fenceline.testbed.server.RedisKind;
import io.fenceline.testbed.server.RedisServer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Valkey is found by its own schemes, named where a store is named, and shares locks with none. */
class ValkeyTest {

  @Test
  void kinds_nameIt() {
    List<StoreKind> kinds =
        new RedisProvider()
            .kinds().stream().filter(kind -> kind.guarantees().store().equals("valkey")).toList();
    assertThat(kinds)
        .extracting(kind -> kind.addresses().get(0).replaceFirst(":.*", ""))
        .containsExactly("valkey", "valkey-sentinel", "valkey-cluster");
  }

  @Test
  @NeedsValkey
  void itsName_isInGuaranteesAndDiagnosis() {
    try (RedisServer valkey = RedisServer.builder().kind(RedisKind.VALKEY).start();
        Fenceline fenceline = Fenceline.connect(valkey.uri());
        Fenceline asRedis = Fenceline.connect("redis://" + valkey.address())) {
      assertThat(valkey.uri()).startsWith("valkey://");
      assertThat(fenceline.guarantees().store()).isEqualTo("valkey");
      assertThat(fenceline.diagnose())
          .filteredOn(finding -> finding.check().equals("version"))
          .singleElement()
          .satisfies(finding -> assertThat(finding.found()).contains(" is valkey 8."));
      Hold hold = fenceline.lock("ledger").tryAcquire().orElseThrow();
      assertThat(asRedis.lock("ledger").tryAcquire()).isEmpty();
      hold.close();
    }
  }

  @Test
  @NeedsValkey
  void itsTls_isSpokenBy_valkeys() {
    try (RedisServer valkey = RedisServer.builder().kind(RedisKind.VALKEY).tls().start();
        Fenceline fenceline =
            Fenceline.connect(valkey.uri() + "?tlsCa=" + valkey.tlsFiles().caCertificate())) {
      assertThat(valkey.uri()).startsWith("valkeys://");
      fenceline.lock("ledger").tryAcquire().orElseThrow().close();
    }
  }
}
