package io.fenceline.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.LockOptions;
import io.fenceline.testbed.server.EtcdServer;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/**
 * An etcd server for a class of tests, and two clients for each of them, who leave nothing behind.
 */
@SuppressWarnings("MustBeClosedChecker") // closed after the test
abstract class OneEtcdServer {
  static final Duration BOUND = Duration.ofSeconds(20);
  static final LockOptions OPTIONS = LockOptions.defaults().lease(Duration.ofSeconds(3));

  static EtcdServer etcd;
  Fenceline a;
  Fenceline b;

  @BeforeAll
  static void start() {
    etcd = EtcdServer.start("--heartbeat-interval=50", "--election-timeout=250");
  }

  @AfterAll
  static void stop() {
    etcd.close();
  }

  @BeforeEach
  void connect() {
    a = client("a");
    b = client("b");
  }

  @AfterEach
  void close() {
    a.close();
    b.close();
    assertThat(etcd.etcdctl("get", "--prefix", "--keys-only", "/fenceline/lock/")).isEmpty();
  }

  static Fenceline client(String label) {
    return client(label, etcd.address());
  }

  static Fenceline client(String label, String address) {
    return Fenceline.builder()
        .store("etcd://" + address)
        .label(label)
        .defaultOptions(OPTIONS)
        .connectTimeout(BOUND)
        .connect();
  }

  static void warm(Fenceline client) {
    client.lock("warm").tryAcquire().orElseThrow().release();
  }

  void awaitWaiters(String name, int count) {
    Eventually.until(BOUND, count + " waiters", () -> a.inspect(name).waiters().size() == count);
  }
}
