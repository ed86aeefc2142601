package io.fenceline.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.Client;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.StoreUnavailableException;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.proxy.Trigger;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/**
 * An extension moves the key to a longer lease. Whatever becomes of the request, what the hold
 * believes afterwards is what the lease of its key has.
 */
@SuppressWarnings("MustBeClosedChecker") // holds outlive the block that makes them
class EtcdExtendTest extends OneEtcdServer {
  private static final LockOptions FIXED = LockOptions.defaults().fixedLease(seconds(20));

  private static Duration seconds(int count) {
    return Duration.ofSeconds(count);
  }

  private static Fenceline through(FaultProxy proxy) {
    return Fenceline.builder()
        .store("etcd://" + proxy.address())
        .label("faulty")
        .operationTimeout(seconds(2))
        .connect();
  }

  /** The lease that the key of a name is on. */
  private static String leaseOf(String name) {
    String json = etcd.etcdctl("get", "--prefix", "-w", "json", "/fenceline/lock/" + name + "!");
    return Long.toHexString(Long.parseLong(json.replaceAll("(?s).*\"lease\":([0-9]+).*", "$1")));
  }

  /** How many whole seconds ago a lease was last started. */
  private static long age(String lease) {
    String told = etcd.etcdctl("lease", "timetolive", lease);
    String figures = told.replaceAll("(?s).*granted with TTL\\(([0-9]+)s\\), remaining\\(", "$1 ");
    String[] parts = figures.replaceAll("s\\).*", "").strip().split(" ", -1);
    return Long.parseLong(parts[0]) - Long.parseLong(parts[1]);
  }

  @Test
  void anExtensionWhoseReplyIsLost_isFollowedByOneOfTheLeaseThatTheKeyIsOn() throws Exception {
    try (FaultProxy proxy = FaultProxy.to(etcd.host(), etcd.port(), Protocol.HTTP2);
        Fenceline faulty = through(proxy)) {
      Hold hold = faulty.lock("moved", FIXED).acquire(BOUND);
      String first = leaseOf("moved");
      Fault lost = proxy.cutBeforeReply(Trigger.first(frame -> frame.contains("lock/moved!")));
      assertThatThrownBy(() -> hold.extend(seconds(40)))
          .isInstanceOf(StoreUnavailableException.class);
      assertThat(lost.timesApplied()).isEqualTo(1);
      assertThat(leaseOf("moved")).as("the server has moved the key").isNotEqualTo(first);
      Eventually.until(BOUND, "that lease to age", () -> age(leaseOf("moved")) >= 4);

      hold.extend(seconds(20));

      assertThat(age(leaseOf("moved"))).as("the lease of the key was started again").isLessThan(4);
      assertThat(hold.isValid()).isTrue();
      hold.extend(seconds(30));
      assertThat(age(leaseOf("moved"))).isLessThan(4);
      hold.release();
    }
  }

  @Test
  void aMoveThatArrivesAfterItWasGivenUp_leavesTheKeyWhereTheHoldBelievesIt() throws Exception {
    HeldRequest late = new HeldRequest();
    HeldRequest revocation = new HeldRequest();
    try (Client client =
            Client.builder()
                .endpoints(etcd.endpoint())
                .interceptor(late)
                .interceptor(revocation)
                .build();
        Fenceline faulty =
            Fenceline.builder()
                .store(EtcdStores.from(client))
                .operationTimeout(seconds(1))
                .connect()) {
      Hold hold = faulty.lock("late", FIXED).acquire(BOUND);
      late.catchNext(request -> request.startsWith("Txn") && request.contains("lock/late!"));
      assertThatThrownBy(() -> hold.extend(seconds(40)))
          .isInstanceOf(StoreUnavailableException.class);
      assertThat(late.isCaught()).isTrue();
      // The lease of the late move is about to end, but is still there when the move arrives.
      revocation.catchNext(request -> request.startsWith("LeaseRevoke"));
      hold.extend(seconds(20));
      Eventually.until(BOUND, "that lease to be revoked", revocation::isCaught);
      String believed = leaseOf("late");
      long txns = etcd.rpcCount("Txn");

      late.deliver();

      Eventually.until(BOUND, "the server to do it", () -> etcd.rpcCount("Txn") > txns);
      assertThat(leaseOf("late")).isEqualTo(believed);
      long revocations = etcd.rpcCount("LeaseRevoke");
      revocation.deliver();
      Eventually.until(BOUND, "its end", () -> etcd.rpcCount("LeaseRevoke") > revocations);
      assertThat(leaseOf("late")).isEqualTo(believed);
      assertThat(hold.isValid()).isTrue();
      hold.release();
    }
  }

  @Test
  void extensionsAtTheSameTime_leaveTheKeyOnTheLeaseThatIsBelievedIn() throws Exception {
    Hold hold = a.lock("both", FIXED).acquire(BOUND);
    CompletableFuture<?>[] all = new CompletableFuture<?>[8];
    for (int i = 0; i < all.length; i++) {
      all[i] = hold.extendAsync(seconds(21 + (i * 5) % 8));
    }
    CompletableFuture.allOf(all).join();
    Eventually.until(BOUND, "the lease to age", () -> age(leaseOf("both")) >= 2);
    long asked = System.nanoTime();
    hold.extend(seconds(20));
    long age = age(leaseOf("both"));
    // One that was not renewed is that much older, too, however long the machine took to ask.
    assertThat(age).isLessThan(2 + TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - asked));
    assertThat(hold.isValid()).isTrue();
    hold.release();
  }

  @Test
  void aMoveThatIsDoneAfterItsHoldWasLost_leavesTheNameClosedForItsDelay() throws Exception {
    HeldRequest move = new HeldRequest();
    HeldRequest revocation = new HeldRequest();
    AtomicReference<EtcdStore> store = new AtomicReference<>();
    Duration delay = seconds(2);
    try (Client client =
            Client.builder()
                .endpoints(etcd.endpoint())
                .interceptor(move)
                .interceptor(revocation)
                .build();
        Fenceline late =
            Fenceline.builder()
                .store(
                    (StoreFactory)
                        context -> {
                          store.set((EtcdStore) EtcdStores.from(client).open(context));
                          return store.get();
                        })
                .operationTimeout(seconds(60))
                .connect()) {
      LockOptions fixed = LockOptions.defaults().fixedLease(seconds(5)).lockDelay(delay);
      Hold hold = late.lock("crossed", fixed).acquire(BOUND);
      String lease = leaseOf("crossed");
      move.catchNext(request -> request.startsWith("Txn") && request.contains("lock/crossed!"));
      // It goes by another connection, and may come later than the move.
      revocation.catchNext(request -> request.startsWith("LeaseRevoke"));
      CompletableFuture<?> extended = hold.extendAsync(seconds(600));
      Eventually.until(BOUND, "the move", () -> move.isCaught() || extended.isDone());
      assertThat(extended).as("not lost by load").isNotDone();
      Eventually.until(
          BOUND,
          "the client to think that it is over",
          () -> {
            // The lease of the server ends later than that; here, later than the move.
            etcd.etcdctl("lease", "keep-alive", "--once", lease);
            return store.get().remembered() == 0;
          });
      assertThat(leaseOf("crossed")).isEqualTo(lease);
      long start = System.nanoTime();

      move.deliver();

      try (Hold next = b.lock("crossed").acquire(BOUND)) {
        assertThat(System.nanoTime() - start).isGreaterThan(delay.toNanos());
        assertThat(next.token()).isGreaterThan(hold.token());
      }
    }
  }
}
