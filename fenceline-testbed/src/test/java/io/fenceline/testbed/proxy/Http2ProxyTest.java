package io.fenceline.testbed.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.testbed.server.EtcdServer;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class Http2ProxyTest {

  private static EtcdServer etcd;
  private FaultProxy proxy;

  @BeforeAll
  static void startEtcd() {
    etcd = EtcdServer.start();
  }

  @AfterAll
  static void stopEtcd() {
    etcd.close();
  }

  @BeforeEach
  void open() {
    proxy = FaultProxy.to(etcd.host(), etcd.port(), Protocol.HTTP2);
  }

  @AfterEach
  void close() {
    proxy.close();
  }

  private Command etcdctl(String... words) throws IOException {
    String[] command = new String[words.length + 3];
    command[0] = "etcdctl";
    command[1] = "--endpoints=" + proxy.address();
    command[2] = "--command-timeout=1s";
    System.arraycopy(words, 0, command, 3, words.length);
    return Command.run(Map.of("ETCDCTL_API", "3"), command);
  }

  @Test
  void callsPassAndTheirFramesAreCounted() throws IOException {
    assertThat(etcdctl("put", "passing", "value").output()).isEqualTo("OK");
    assertThat(etcdctl("get", "passing", "--print-value-only").output()).isEqualTo("value");

    assertThat(proxy.counts()).containsEntry("PREFACE", 2L).containsEntry("DATA", 2L);
  }

  @Test
  void theReplyToACallIsLost_whenItWasRun() throws IOException {
    Fault drop = proxy.dropReply(Trigger.first(request -> request.contains("dropped")));
    assertThat(etcdctl("put", "dropped", "value").status()).isNotZero();

    assertThat(drop.timesApplied()).isPositive();
    assertThat(etcd.etcdctl("get", "dropped", "--print-value-only")).isEqualTo("value");
  }

  @Test
  void aBlackHoleKeepsACallFromTheServer() throws IOException {
    Fault hole = proxy.blackHole(Direction.TO_SERVER);
    assertThat(etcdctl("put", "swallowed", "value").status()).isNotZero();

    assertThat(hole.timesApplied()).isPositive();
    assertThat(etcd.etcdctl("get", "swallowed", "--print-value-only")).isEmpty();
  }
}
