package io.fenceline.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.PutOption;
import io.fenceline.Fenceline;
import io.fenceline.FencingToken;
import io.fenceline.Hold;
import io.fenceline.LockLostException;
import io.fenceline.LockOptions;
import io.fenceline.StaleTokenException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.fence.FenceListener;
import io.fenceline.fence.FenceMarks;
import io.fenceline.testbed.proxy.Direction;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.EtcdServer;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.fence.FenceContract;
import io.fenceline.testkit.fence.FencedCell;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The fence in the transactions of etcd. */
class EtcdFenceTest extends FenceContract {
  private static final FencingToken T33 = FencingToken.exclusive(33);
  private static final FencingToken T34 = FencingToken.exclusive(34);

  private static EtcdServer etcd;
  private static Client client;
  private static EtcdFence fence;

  @BeforeAll
  static void start() {
    etcd = EtcdServer.start();
    client = Client.builder().endpoints(etcd.endpoint()).build();
    fence = EtcdFence.over(client).timeout(Duration.ofSeconds(60));
  }

  @AfterAll
  static void stop() {
    client.close();
    etcd.close();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static ByteSequence sequence(String text) {
    return ByteSequence.from(text, StandardCharsets.UTF_8);
  }

  private static String text(String key) {
    try {
      List<KeyValue> found =
          client.getKVClient().get(sequence(key)).get(60, TimeUnit.SECONDS).getKvs();
      return found.isEmpty() ? "" : found.get(0).getValue().toString(StandardCharsets.UTF_8);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Override
  protected FencedCell cell(String name, FenceListener listener) {
    EtcdFence told = fence.listener(listener);
    return new FencedCell() {
      @Override
      public void write(String value, FencingToken token) {
        told.put(name, bytes(value), token);
      }

      @Override
      public String read() {
        return text(name);
      }
    };
  }

  @Test
  void keyThatWasDeleted_isNotPutByAStaleWriter() {
    fence.put("deleted", bytes("of 33"), T33);
    fence.delete("deleted", T34);

    assertThatThrownBy(() -> fence.put("deleted", bytes("again"), T33))
        .isInstanceOf(StaleTokenException.class);
    assertThat(text("deleted")).isEmpty();
  }

  @Test
  void checkAlone_forResourcesElsewhere() {
    fence.asFence().check("orders/42", T34);

    assertThatThrownBy(() -> fence.asFence().check("orders/42", T33))
        .isInstanceOf(StaleTokenException.class);
    assertThatCode(() -> fence.root("/other").asFence().check("orders/42", T33))
        .doesNotThrowAnyException();
  }

  @Test
  void serverThatDoesNotAnswer_isAnUnknownOutcome() {
    try (FaultProxy proxy = FaultProxy.to(etcd.host(), etcd.port(), Protocol.HTTP2);
        Client slow = Client.builder().endpoints("http://" + proxy.address()).build()) {
      EtcdFence hasty = EtcdFence.over(slow).timeout(Duration.ofMillis(300));
      Fault stalled = proxy.stall(Direction.TO_SERVER);

      assertThatThrownBy(() -> hasty.put("slow", bytes("x"), T33))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("may have been done");
      assertThat(stalled.timesApplied()).isPositive();
    }
  }

  /** How a caller stops waiting for a write. */
  private enum GivenUp {
    BY_TIMEOUT {
      @Override
      void write(EtcdFence fence, String key, byte[] value) {
        assertThatThrownBy(() -> fence.timeout(Duration.ofMillis(50)).put(key, value, T33))
            .isInstanceOf(StoreUnavailableException.class)
            .hasMessageContaining("may have been done");
      }
    },
    BY_INTERRUPT {
      @Override
      void write(EtcdFence fence, String key, byte[] value) {
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> fence.put(key, value, T33))
            .isInstanceOf(StoreUnavailableException.class)
            .hasMessageContaining("Interrupted");
        assertThat(Thread.interrupted()).isTrue();
      }
    },
    BY_CANCEL {
      @Override
      void write(EtcdFence fence, String key, byte[] value) {
        Op put = Op.put(sequence(key), ByteSequence.from(value), PutOption.DEFAULT);
        assertThat(fence.commitAsync(key, T33, List.of(put)).cancel(true)).isTrue();
      }
    };

    abstract void write(EtcdFence fence, String key, byte[] value);
  }

  /** As one that gRPC has kept while etcd was away, and sends after what was written since. */
  @ParameterizedTest
  @EnumSource(GivenUp.class)
  void writeThatWasGivenUp_doesNotUndoALaterOneOfTheSameHolder(GivenUp way) {
    String key = "given-up-" + way;
    HeldRequest late = new HeldRequest();
    try (Client slow = Client.builder().endpoints(etcd.endpoint()).interceptor(late).build()) {
      EtcdFence held = EtcdFence.over(slow).timeout(Duration.ofSeconds(60));
      held.put(key, bytes("first"), T33);
      late.catchNext(request -> request.startsWith("Txn") && request.contains(key));
      way.write(held, key, bytes("given up"));
      Eventually.until(Duration.ofSeconds(60), "the request to be held back", late::isCaught);

      EtcdFence.over(client).put(key, bytes("later"), T33);
      long requests = etcd.rpcCount("Txn");
      late.deliver();

      Eventually.until(
          Duration.ofSeconds(60),
          "etcd to have done the late request",
          () -> etcd.rpcCount("Txn") > requests && etcd.openStreams("Txn") == 0);
      assertThat(text(key)).isEqualTo("later");
      held.put(key, bytes("last"), T33);
      assertThat(text(key)).isEqualTo("last");
    }
  }

  /** Another process with the same token has had writes without an answer, and we have not. */
  @Test
  void writerWithTheSameToken_goesOnFromTheMarksOfAnotherProcess() throws Exception {
    String mark = FenceMarks.digits(33) + "." + FenceMarks.digits(1_000);
    for (String key : new String[] {"/fenceline-fence/both!x", "/fenceline-fence/both!a"}) {
      ByteSequence value = ByteSequence.from(mark, StandardCharsets.US_ASCII);
      client.getKVClient().put(sequence(key), value).get(60, TimeUnit.SECONDS);
    }

    assertThatThrownBy(() -> fence.put("both", bytes("stale"), FencingToken.exclusive(32)))
        .isInstanceOf(StaleTokenException.class)
        .hasMessageContaining("33");
    fence.put("both", bytes("ours"), T33);
    assertThat(text("both")).isEqualTo("ours");
    assertThat(text("/fenceline-fence/both!a")).isEqualTo(mark);
    long requests = etcd.rpcCount("Txn");
    fence.put("both", bytes("again"), T33);
    assertThat(etcd.rpcCount("Txn")).as("one request again").isEqualTo(requests + 1);
    fence.put("both", bytes("shared"), FencingToken.shared(33));
    assertThat(text("both")).isEqualTo("shared");
    fence.put("both", bytes("of 34"), T34);
    assertThatThrownBy(() -> fence.put("both", bytes("stale"), T33))
        .isInstanceOf(StaleTokenException.class)
        .hasMessageContaining("34");
    assertThatThrownBy(() -> fence.put("both", bytes("stale"), FencingToken.shared(33)))
        .isInstanceOf(StaleTokenException.class);
    assertThat(text("both")).isEqualTo("of 34");
  }

  @Test
  void whileHeld_isOverForAHoldThatWasGivenBack_thoughItsKeyKeepsTheNameClosed() throws Exception {
    LockOptions job = LockOptions.defaults().keepAtLeast(Duration.ofSeconds(60));
    try (Fenceline locks = Fenceline.connect("etcd://" + etcd.address())) {
      Hold hold = locks.lock("kept-closed", job).acquire(Duration.ofSeconds(60));
      EtcdFence held = fence.whileHeld(hold);
      held.put("kept", bytes("held"), hold.fencingToken());

      hold.release();

      assertThat(locks.inspect("kept-closed").isFree()).as("its key is there").isFalse();
      assertThatThrownBy(() -> held.put("kept", bytes("late"), hold.fencingToken()))
          .isInstanceOf(LockLostException.class);
      assertThatThrownBy(() -> fence.whileHeld(hold)).isInstanceOf(LockLostException.class);
      assertThat(text("kept")).isEqualTo("held");
    }
  }

  @Test
  void whileHeld_isOverForAHoldThatWasTakenAway_thoughItsLockDelayRuns() throws Exception {
    LockOptions delayed = LockOptions.defaults().lockDelay(Duration.ofSeconds(60));
    try (Fenceline locks = Fenceline.connect("etcd://" + etcd.address())) {
      Hold hold = locks.lock("taken-away", delayed).acquire(Duration.ofSeconds(60));
      EtcdFence held = fence.whileHeld(hold);

      assertThat(locks.forceRelease("taken-away", hold.token())).isTrue();

      assertThatThrownBy(() -> held.put("taken", bytes("late"), hold.fencingToken()))
          .isInstanceOf(LockLostException.class);
      assertThatThrownBy(() -> fence.whileHeld(hold)).isInstanceOf(LockLostException.class);
    }
  }

  @Test
  void whileHeld_asksForTheLocksKey_too() throws Exception {
    try (Fenceline locks = Fenceline.connect("etcd://" + etcd.address())) {
      Hold hold = locks.lock("guarded").acquire(Duration.ofSeconds(60));
      EtcdFence held = fence.whileHeld(hold);
      held.put("held", bytes("first"), hold.fencingToken());
      held.put("held", bytes("second"), hold.fencingToken());
      assertThatThrownBy(() -> held.put("held", bytes("stale"), T33))
          .isInstanceOf(StaleTokenException.class);

      hold.release();

      assertThatThrownBy(() -> held.put("held", bytes("late"), hold.fencingToken()))
          .isInstanceOf(LockLostException.class)
          .hasMessageContaining("guarded");
      assertThatThrownBy(() -> fence.whileHeld(hold)).isInstanceOf(LockLostException.class);
      assertThat(text("held")).isEqualTo("second");
    }
  }
}
