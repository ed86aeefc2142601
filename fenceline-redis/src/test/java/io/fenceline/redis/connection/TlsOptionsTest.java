package io.fenceline.redis.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.FencelineException;
import io.fenceline.redis.RedisStores;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.proxy.Trigger;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testbed.server.TlsFiles;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A password does not go out in clear where an option of TLS was given; a proxy listens. */
@SuppressWarnings("MustBeClosedChecker") // What is to be refused is not there to be closed.
class TlsOptionsTest {
  private static final String CANARY = "c4n4ry";

  private static RedisServer certified;
  private static RedisServer plain;

  @BeforeAll
  static void start() {
    certified = RedisServer.builder().tls().start(); // For its certificates.
    plain = RedisServer.builder().password(CANARY).start();
  }

  @AfterAll
  static void stop() {
    certified.close();
    plain.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://:c4n4ry@HOST?tlsCa=CA&tlsVerify=full",
        "redis://:c4n4ry@HOST?tlsCa=CA",
        "redis://app:c4n4ry@HOST?tlsVerify=ca",
        "redis://:c4n4ry@HOST?tls=true",
        "rediss://:c4n4ry@HOST",
        "redis-cluster://:c4n4ry@HOST?tlsCa=CA",
        "redis-sentinel://:c4n4ry@HOST?master=m&sentinelPassword=c4n4ry&tlsCa=CA",
        "redis-sentinel://:c4n4ry@HOST?master=m&sentinelPassword=c4n4ry&tls=true",
        "redlock://:c4n4ry@HOST,HOST,HOST?tlsCa=CA"
      })
  void optionOfTls_turnsItOn(String form) {
    TlsFiles files = certified.tlsFiles();
    try (FaultProxy proxy = FaultProxy.to(plain.host(), plain.port(), Protocol.BYTES)) {
      AtomicInteger requests = new AtomicInteger();
      AtomicInteger readable = new AtomicInteger();
      proxy.cutRequest(
          Trigger.every(
              frame -> {
                requests.incrementAndGet();
                if (frame.contains(CANARY)) {
                  readable.incrementAndGet();
                }
                return false;
              }));
      String uri =
          form.replace("HOST", proxy.address()).replace("CA", files.caCertificate().toString());
      assertThatThrownBy(
              () ->
                  Fenceline.builder()
                      .store(uri)
                      .connectTimeout(Duration.ofSeconds(3))
                      .operationTimeout(Duration.ofSeconds(1))
                      .connect())
          .isInstanceOf(FencelineException.class)
          .hasMessageNotContaining(CANARY);
      assertThat(readable).as("requests with the password in clear").hasValue(0);
      assertThat(requests).as("requests that were heard").hasValueGreaterThan(0);
    }
  }

  @Test
  void addressThatContradictsItself_isRefused() {
    for (String uri :
        new String[] {
          "redis://host?tls=false&tlsVerify=full",
          "redlock://a,b,c?tls=false&tlsVerify=ca",
          "redis-cluster://a?tlsVerify=full&tls=false",
          "rediss://host?tls=false"
        }) {
      assertThatThrownBy(() -> RedisStores.at(uri))
          .as(uri)
          .isInstanceOf(InvalidSettingException.class)
          .hasMessageContaining("tls=false");
    }
  }
}
