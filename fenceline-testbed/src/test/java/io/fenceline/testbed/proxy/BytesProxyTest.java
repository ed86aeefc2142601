package io.fenceline.testbed.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testbed.server.RespClient;
import java.io.IOException;
import java.net.SocketException;
import org.junit.jupiter.api.Test;

class BytesProxyTest {

  @Test
  void bytesPass_andTheAnswerToWhatMatchesIsCut() throws IOException {
    try (RedisServer redis = RedisServer.start();
        FaultProxy proxy = FaultProxy.to(redis.host(), redis.port(), Protocol.BYTES);
        RespClient client = RespClient.connect(proxy.host(), proxy.port())) {
      assertThat(client.call("PING")).isEqualTo("PONG");
      Fault cut = proxy.cutBeforeReply(Trigger.first(bytes -> bytes.contains("key")));

      assertThatThrownBy(() -> client.call("SET", "key", "value"))
          .isInstanceOf(SocketException.class);
      assertThat(cut.timesApplied()).isEqualTo(1);
      assertThat(redis.command("GET", "key")).isEqualTo("value");
      assertThat(proxy.count("bytes")).isEqualTo(2);
    }
  }
}
