package io.fenceline.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.Client;
import io.fenceline.FencedReadWriteLock;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.LockTimeoutException;
import io.fenceline.PermitHold;
import io.fenceline.StoreRefusedException;
import io.fenceline.diagnosis.LockReport;
import io.fenceline.event.LockEvent;
import io.fenceline.event.LockListener;
import io.fenceline.event.StoreFailed;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Who has a name and who waits for it: the order of create revisions, and what is shown of it. */
@SuppressWarnings("MustBeClosedChecker") // holds and clients outlive the block that makes them
class EtcdQueueTest extends OneEtcdServer {
  @Test
  void theTokenIsTheCreateRevisionOfTheKey() throws InterruptedException {
    try (Hold hold = a.lock("token").acquire(BOUND)) {
      String json = etcd.etcdctl("get", "--prefix", "/fenceline/lock/token!", "-w", "json");
      assertThat(json).contains("\"create_revision\":" + (hold.token() >> 8) + ",");
    }
  }

  @Test
  void aWaiterIsWokenByTheEndOfItsPredecessor_inOrder() throws Exception {
    Fenceline c = client("c");
    try (c) {
      Hold first = a.lock("queue").acquire(BOUND);
      CompletableFuture<Hold> second = b.lock("queue").acquireAsync(BOUND);
      awaitWaiters("queue", 1);
      CompletableFuture<Hold> third = c.lock("queue").acquireAsync(BOUND);
      awaitWaiters("queue", 2);
      assertThat(a.lock("queue").tryAcquire()).isEmpty();

      first.release();
      Hold two = second.get(20, TimeUnit.SECONDS);
      assertThat(third).isNotDone();
      assertThat(two.token()).isGreaterThan(first.token());
      two.release();
      Hold three = third.get(20, TimeUnit.SECONDS);
      assertThat(three.token()).isGreaterThan(two.token());
      three.release();
    }
  }

  @Test
  void aWaiterWhoseKeySomeoneDeleted_isNotGrantedBesideTheOneBehindIt() throws Exception {
    LockOptions patient = LockOptions.defaults().lease(Duration.ofSeconds(20)); // no polls
    Fenceline c = client("c");
    try (c) {
      Hold first = a.lock("robbed", patient).acquire(BOUND);
      CompletableFuture<Hold> second = b.lock("robbed", patient).acquireAsync(BOUND);
      awaitWaiters("robbed", 1);
      List<String> keys = keys();
      CompletableFuture<Hold> third = c.lock("robbed", patient).acquireAsync(BOUND);
      awaitWaiters("robbed", 2);
      Eventually.until(BOUND, "both to watch", () -> etcd.openStreams("Watch") == 2);
      assertThat(keys).hasSize(2);
      etcd.etcdctl("del", keys.get(1));
      awaitWaiters("robbed", 1);

      first.release(); // Both of them hear of it.
      Hold granted = third.get(20, TimeUnit.SECONDS);
      Eventually.until(
          BOUND,
          "the robbed one to queue again",
          () -> second.isDone() || a.inspect("robbed").waiters().size() == 1);
      assertThat(second).isNotDone();
      assertThat(granted.isValid()).isTrue();
      granted.release();
      Hold last = second.get(20, TimeUnit.SECONDS);
      assertThat(last.token()).isGreaterThan(granted.token());
      last.release();
    }
  }

  /** The keys of all claims of the name, in their order. */
  private static List<String> keys() {
    String found =
        etcd.etcdctl(
            "get", "--prefix", "--keys-only", "--sort-by=CREATE", "/fenceline/lock/robbed!");
    return found.lines().filter(line -> !line.isBlank()).toList();
  }

  @Test
  void aWaiterWhoseTimeIsOver_leavesTheQueue_andSaysWhoHolds() throws InterruptedException {
    try (Hold hold = a.lock("busy").acquire(BOUND)) {
      assertThatThrownBy(() -> b.lock("busy").acquire(Duration.ofMillis(300)))
          .isInstanceOf(LockTimeoutException.class)
          .hasMessageContaining("holder=a")
          .hasMessageContaining(Long.toString(hold.token()));
      Eventually.until(BOUND, "the queue to be empty", () -> a.inspect("busy").waiters().isEmpty());
    }
  }

  @Test
  void readersShareAndAWriterWaitsForAllOfThem() throws Exception {
    FencedReadWriteLock ofA = a.readWriteLock("book");
    FencedReadWriteLock ofB = b.readWriteLock("book");
    Hold one = ofA.readLock().acquire(BOUND);
    Hold two = ofB.readLock().acquire(BOUND);
    CompletableFuture<Hold> writer = ofA.writeLock().acquireAsync(BOUND);
    awaitWaiters("book", 1);
    assertThat(ofB.readLock().tryAcquire()).as("a reader behind a writer").isEmpty();
    one.release();
    two.release();
    Hold write = writer.get(20, TimeUnit.SECONDS);
    assertThat(write.token()).isGreaterThan(Math.max(one.token(), two.token()));
    CompletableFuture<Hold> reader = ofB.readLock().acquireAsync(BOUND);
    awaitWaiters("book", 1);
    write.release();
    reader.get(20, TimeUnit.SECONDS).release();
  }

  @Test
  void permitsAreGivenOutToTheLastOne() throws Exception {
    PermitHold one = a.semaphore("pool", 3).acquire(BOUND);
    PermitHold two = b.semaphore("pool", 3).acquire(BOUND);
    PermitHold three = a.semaphore("pool", 3).acquire(BOUND);
    CompletableFuture<PermitHold> four = b.semaphore("pool", 3).acquireAsync(BOUND);
    awaitWaiters("pool", 1);
    assertThat(a.semaphore("pool", 3).tryAcquire()).isEmpty();
    two.release();
    four.get(20, TimeUnit.SECONDS).release();
    one.release();
    three.release();
  }

  @Test
  void aNameHasOneKind() throws InterruptedException {
    try (Hold hold = a.lock("kind").acquire(BOUND)) {
      assertThatThrownBy(() -> b.semaphore("kind", 3).acquire(BOUND))
          .isInstanceOf(StoreRefusedException.class)
          .hasMessageContaining("semaphore of 3");
      assertThat(hold.isValid()).isTrue();
    }
  }

  @Test
  void aClaimWhoseLeavingIsNotAnswered_isNotGrantedOnTheKeyThatItLeaves() throws Exception {
    HeldRequest delete = new HeldRequest();
    List<StoreFailed> failures = new CopyOnWriteArrayList<>();
    LockListener hears =
        new LockListener() {
          @Override
          public void on(LockEvent event) {
            if (event instanceof StoreFailed failed) {
              failures.add(failed);
            }
          }
        };
    try (Client client = Client.builder().endpoints(etcd.endpoint()).interceptor(delete).build();
        Fenceline leaving =
            Fenceline.builder()
                .store(EtcdStores.from(client))
                .defaultOptions(OPTIONS.lease(Duration.ofSeconds(30))) // no sweep meanwhile
                .operationTimeout(Duration.ofSeconds(1))
                .listener(hears)
                .connect()) {
      PermitHold permit = a.semaphore("left", 3).acquire(BOUND);
      delete.catchNext(r -> r.startsWith("DeleteRange") && r.contains("lock/left!"));
      CompletableFuture<Hold> asked = leaving.lock("left").acquireAsync(BOUND);
      Eventually.until(BOUND, "the claim to leave", delete::isCaught);
      permit.release();
      Eventually.until(BOUND, "no answer to that", () -> !failures.isEmpty());
      Eventually.until(BOUND, "an answer to the claim", asked::isDone);
      long deletes = etcd.rpcCount("DeleteRange");

      delete.deliver();

      Eventually.until(BOUND, "it to arrive", () -> etcd.rpcCount("DeleteRange") > deletes);
      Optional<Hold> next = b.lock("left").tryAcquire();
      boolean beside =
          !asked.isCompletedExceptionally() && asked.join().isValid() && next.isPresent();
      assertThat(beside).as("two holders").isFalse();
      assertThatThrownBy(asked::join).hasCauseInstanceOf(StoreRefusedException.class);
      next.orElseThrow().release();
      // The slot of a delete that was not answered is left alone.
      try (Hold again = leaving.lock("left").acquire(BOUND)) {
        String key = etcd.etcdctl("get", "--prefix", "--keys-only", "/fenceline/lock/left!");
        assertThat(key.strip()).endsWith("-1");
        assertThat(again.isValid()).isTrue();
      }
    }
  }

  @Test
  void inspectionShowsHoldersAndWaiters() throws Exception {
    try (Hold hold = a.lock("seen").acquire(BOUND)) {
      CompletableFuture<Hold> waiting = b.lock("seen").acquireAsync(BOUND);
      awaitWaiters("seen", 1);
      LockReport report = b.inspect("seen");
      assertThat(report.holders()).hasSize(1);
      assertThat(report.holders().get(0).token()).isEqualTo(hold.token());
      assertThat(report.holders().get(0).label()).isEqualTo("a");
      assertThat(report.holders().get(0).remaining())
          .isBetween(Duration.ofMillis(1), Duration.ofSeconds(3));
      assertThat(report.waiters().get(0).label()).isEqualTo("b");
      waiting.cancel(false);
      awaitWaiters("seen", 0);
    }
  }

  @Test
  void listingIsInByteOrderAndBounded() throws InterruptedException {
    List<String> names = List.of("l/a", "l/a b", "l/a!", "l/a\"x", "l/a-b", "l/a/b", "l/ä", "m");
    List<Hold> holds = new ArrayList<>();
    for (String name : names) {
      holds.add(a.lock(name).acquire(BOUND));
    }
    assertThat(b.list("l/", 100).stream().map(LockReport::name))
        .containsExactlyElementsOf(names.subList(0, 7));
    assertThat(b.list("l/", 3).stream().map(LockReport::name))
        .containsExactlyElementsOf(names.subList(0, 3));
    holds.forEach(Hold::release);
  }
}
