package io.fenceline.redis.diagnostics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.FencelineBuilder;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.redis.layout.Layout;
import io.fenceline.redis.support.Clients;
import io.fenceline.redis.support.DocumentedRights;
import io.fenceline.testbed.contract.ErrorText;
import io.fenceline.testbed.proxy.Direction;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.RedisServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Each fault has one line that says what happened and what to do; a refusal ends a wait at once.
 */
@SuppressWarnings("MustBeClosedChecker") // What fails is not there to be closed.
class ErrorTextTest {
  private static final String SECRET = "c4n4ry";

  private static final Duration WAIT = ErrorText.BOUND;

  private static final Duration LEASE = Duration.ofSeconds(30);

  private static RedisServer open;
  private static RedisServer locked;
  private static RedisServer tls;
  private static RedisServer replica;
  private static RedisServer full;

  @RegisterExtension final Clients clients = new Clients();

  @BeforeAll
  static void start() {
    open = RedisServer.start();
    locked = RedisServer.builder().password("s3same").start();
    tls = RedisServer.builder().tls().start();
    replica = RedisServer.builder().replicaOf(open).start();
    full = RedisServer.builder().start();
  }

  @AfterAll
  static void stop() {
    for (RedisServer server : List.of(open, locked, tls, replica, full)) {
      server.close();
    }
  }

  /** What a user does that fails. */
  interface Fault {
    void happen(ErrorTextTest test) throws Exception;
  }

  /**
   * A row of the table.
   *
   * @param text what the message has to match: HOST and PORT stand for any
   */
  record Row(String fault, Class<? extends Throwable> type, String text, Fault cause) {
    @Override
    public String toString() {
      return fault;
    }
  }

  private static Row refused(String fault, String text, Fault cause) {
    return new Row(fault, StoreRefusedException.class, text, cause);
  }

  private static Row unavailable(String fault, String text, Fault cause) {
    return new Row(fault, StoreUnavailableException.class, text, cause);
  }

  static List<Row> rows() {
    String three = locked.address() + "," + open.address() + "," + locked.address();
    return List.of(
        refused(
            "Redlock: wrong password at most nodes",
            "Connecting failed: 2 of 3 nodes refused, and 2 are needed; missing: HOST (the server does not accept the user or the password [WRONGPASS*]; check both), HOST (*) (store=redlock://*)",
            t -> t.connect("redlock://:c4n4ry@" + three)),
        unavailable(
            "Redlock: nothing listens",
            "0 of 3 nodes were reached, and 2 are needed; missing: 127.0.0.1:1 (nothing listens there*), 127.0.0.1:2 (*), 127.0.0.1:3 (*) (store=redlock://*)",
            t -> t.connect("redlock://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3")),
        unavailable(
            "Sentinel: nothing listens",
            "Connecting failed: nothing listens there [Connection refused*127.0.0.1:1]; check host and port, and that the server runs (store=redis-sentinel://127.0.0.1:1*)",
            t -> t.connect("redis-sentinel://127.0.0.1:1?master=m")),
        refused(
            "Sentinel: no Sentinel",
            "Connecting failed: the server is no Sentinel [ERR unknown command 'SENTINEL'*]; use the port of one, or redis:// (store=redis-sentinel://HOST?master=m)",
            t -> t.connect("redis-sentinel://" + open.address() + "?master=m")),
        refused(
            "Cluster: wrong password",
            "Connecting failed: the server does not accept the user or the password [WRONGPASS*]; check both (store=redis-cluster://*HOST)",
            t -> t.connect("redis-cluster://:c4n4ry@" + locked.address())),
        unavailable(
            "Cluster: nothing listens",
            "Connecting failed: nothing listens there [Connection refused*127.0.0.1:1]; check host and port, and that the server runs (store=redis-cluster://127.0.0.1:1)",
            t -> t.connect("redis-cluster://127.0.0.1:1", Duration.ofSeconds(1))),
        refused(
            "Cluster: no Cluster",
            "Connecting failed: the server is no Cluster [ERR This instance has cluster support disabled]; use redis:// (store=redis-cluster://HOST)",
            t -> t.connect("redis-cluster://" + open.address())),
        refused(
            "wrong password",
            "Connecting failed: the server does not accept the user or the password [WRONGPASS*]; check both (store=redis://*HOST)",
            t -> t.connect("redis://:c4n4ry@" + locked.address())),
        refused(
            "no password",
            "Connecting failed: the server does not accept the user or the password [NOAUTH*]; check both (store=redis://*HOST)",
            t -> t.connect("redis://" + locked.address())),
        unavailable(
            "unknown host",
            "Connecting failed: the host 'no-such-host.invalid' is not known; check the address (store=redis://no-such-host.invalid)",
            t -> t.connect("redis://no-such-host.invalid")),
        unavailable(
            "connection refused",
            "Connecting failed: nothing listens there [Connection refused*127.0.0.1:1]; check host and port, and that the server runs (store=redis://127.0.0.1:1)",
            t -> t.connect("redis://127.0.0.1:1")),
        unavailable(
            "TLS to a server without it",
            "Connecting failed: the server does not speak TLS [*]; check the port, or leave TLS out (store=rediss://*HOST)",
            // Half of it is for the handshake that fails; the rest is for a machine that is busy.
            t -> t.connect("rediss://:c4n4ry@" + open.address(), Duration.ofSeconds(8))),
        unavailable(
            "no TLS to a server that wants it",
            "Connecting failed: the server closed the connection; if it wants TLS, use rediss:// or tls=true (store=redis://*HOST)",
            t -> t.connect("redis://" + tls.address())),
        unavailable(
            "untrusted certificate",
            "Connecting failed: the server's certificate is not trusted [*]; name its authority with tlsCa (store=rediss://*HOST)",
            t -> t.connect(tls.uri())),
        refused(
            "bad database",
            "Connecting failed: the server does not have this database [ERR DB index is out of range]; check the number (store=redis://*HOST/99)",
            t -> t.connect(open.uri() + "/99")),
        refused(
            "missing right at connect",
            "The user lacks rights: GET: *; grant what docs/redis.md lists (store=redis://*HOST)",
            t -> {
              DocumentedRights.grant(open, "+get");
              t.connect(DocumentedRights.uri(open.uri()));
            }),
        refused(
            "right taken away after connecting",
            "The claim of lock 'ledger' failed: the user lacks a right [*]; grant what docs/redis.md lists (store=redis://*HOST)",
            t -> {
              DocumentedRights.grant(open);
              Fenceline client = t.connect(DocumentedRights.uri(open.uri()));
              DocumentedRights.grant(open, "+set");
              t.acquire(client);
            }),
        refused(
            "password changed after connecting",
            "The claim of lock 'ledger' failed: the server does not accept the user or the password [WRONGPASS*]; check both (store=redis://*HOST)",
            t -> {
              DocumentedRights.grant(open);
              Fenceline client = t.connect(DocumentedRights.uri(open.uri()));
              open.command("ACL", "SETUSER", "locks", "resetpass", ">another");
              open.command("CLIENT", "KILL", "USER", "locks");
              t.acquire(client);
            }),
        refused(
            "read-only replica",
            "The claim of lock 'ledger' failed: the server is a read-only replica [*READONLY*]; use the master's address (store=redis://*HOST)",
            t -> t.acquire(t.connect(replica.uri()))),
        refused(
            "out of memory",
            "The claim of lock 'ledger' failed: the server is out of memory [*OOM*]; raise its maxmemory or free some (store=redis://*HOST)",
            t -> {
              Fenceline client = t.connect(full.uri());
              full.command("CONFIG", "SET", "maxmemory", "1");
              t.acquire(client);
            }),
        unavailable(
            "server killed while connected",
            "The claim of lock 'ledger' failed: there was no connection in time: nothing listens there [Connection refused*]; check host and port, and that the server runs (store=redis://*HOST)",
            t -> {
              try (RedisServer mortal = RedisServer.start()) {
                Fenceline client = t.connect(mortal.uri());
                mortal.kill();
                // The first may still be sent on a connection that is just being closed.
                assertThatThrownBy(() -> client.lock("first").tryAcquire())
                    .isInstanceOf(StoreUnavailableException.class);
                assertThat(client.lock("ledger").tryAcquire()).isEmpty();
              }
            }),
        unavailable(
            "server that is silent",
            "Connecting failed: the server did not answer within 1s; check that it runs and can be reached (store=redis://*HOST)",
            t -> {
              try (FaultProxy proxy = FaultProxy.to(open.host(), open.port(), Protocol.BYTES)) {
                proxy.stall(Direction.TO_CLIENT);
                t.connect("redis://" + proxy.address(), Duration.ofSeconds(1));
              }
            }),
        refused(
            "key with other content",
            "The claim of lock 'foreign' failed: a key of it holds something that is not Fenceline's [*]; delete fl1:{*:foreign, or use another name (store=redis://*HOST)",
            t -> {
              open.command("SET", head("foreign"), "hello");
              Fenceline client = t.connect(open.uri());
              client.lock("foreign").acquire(WAIT);
            }),
        refused(
            "looking at a key with other content",
            "The inspection of lock 'foreign' failed: a key of it holds something that is not Fenceline's [*]; delete fl1:{*:foreign, or use another name (store=redis://*HOST)",
            t -> {
              open.command("SET", head("foreign"), "hello");
              t.connect(open.uri()).inspect("foreign");
            }),
        refused(
            "key with a client that is not ours",
            "The claim of lock 'foreign' failed: a key of it holds something that is not Fenceline's [*]; delete fl1:{*:foreign, or use another name (store=redis://*HOST)",
            t -> {
              open.command(
                  "EVAL",
                  "redis.call('SET', KEYS[1], 'h0123456789abcdef1 ' .. cmsgpack.pack({'x', 1, 0, 60000, 0, 'me'}), 'PX', 60000)",
                  "1",
                  head("foreign"));
              Fenceline client = t.connect(open.uri());
              client.lock("foreign").acquire(WAIT);
            }));
  }

  /** Whatever the driver's own limits are. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://HOST",
        "redis-sentinel://HOST?master=m",
        "redis-cluster://HOST",
        "redlock://HOST,127.0.0.1:2,127.0.0.1:3"
      })
  void connectTimeout_boundsConnecting(String address) throws Exception {
    try (FaultProxy proxy = FaultProxy.to(open.host(), open.port(), Protocol.BYTES)) {
      connect(open.uri()); // The first one also loads the driver, which is not what is measured.
      proxy.stall(Direction.TO_CLIENT);
      String uri = address.replace("HOST", proxy.address());
      new ErrorText(
              "silence",
              StoreUnavailableException.class,
              "*",
              () -> connect(uri, Duration.ofSeconds(1)))
          .within(ErrorText.SOON)
          .check(SECRET);
    }
  }

  private static String head(String name) {
    return new String(Layout.simple(name).keys()[0], StandardCharsets.UTF_8);
  }

  private Fenceline connect(String uri) {
    return connect(uri, Duration.ofSeconds(20));
  }

  private Fenceline connect(String uri, Duration timeout) {
    FencelineBuilder builder =
        Fenceline.builder()
            .store(uri)
            .connectTimeout(timeout)
            .operationTimeout(Duration.ofSeconds(2))
            .defaultOptions(LockOptions.defaults().lease(LEASE));
    return clients.connect(builder);
  }

  private Hold acquire(Fenceline client) throws InterruptedException {
    return client.lock("ledger").acquire(WAIT);
  }

  @ParameterizedTest
  @MethodSource("rows")
  void fault_isNamed(Row row) {
    new ErrorText(row.fault, row.type, row.text, () -> row.cause.happen(this))
        .check(SECRET, "s3same", DocumentedRights.PASSWORD);
  }
}
