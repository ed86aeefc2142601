package io.fenceline.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.StoreUnavailableException;
import io.fenceline.testkit.Eventually;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Keys among the claims that this version can't read: they may hold a name, so nobody else does.
 */
@SuppressWarnings("MustBeClosedChecker") // holds outlive the block that makes them
class EtcdForeignKeyTest extends OneEtcdServer {
  private static final String LOCKS = "/fenceline/lock/";

  @AfterEach
  void removeKeys() {
    etcd.etcdctl("del", "--prefix", LOCKS);
  }

  private static String keys(String name) {
    return etcd.etcdctl("get", "--prefix", "--keys-only", LOCKS + name + "!").strip();
  }

  @Test
  void aKeyOfAnotherFormat_failsClaims_andNothingIsLeftOfThem() throws Exception {
    etcd.etcdctl("put", LOCKS + "foreign!1-0", "of another version");

    assertThatThrownBy(() -> a.lock("foreign").tryAcquire())
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("'/fenceline/lock/foreign!1-0' is not of this version of Fenceline");
    assertThatThrownBy(() -> a.readWriteLock("foreign").readLock().tryAcquire())
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("is not of this version of Fenceline");
    assertThatThrownBy(() -> a.inspect("foreign"))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("is not of this version of Fenceline");
    assertThatThrownBy(() -> a.list("", 10))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("is not of this version of Fenceline");

    assertThat(keys("foreign")).isEqualTo("/fenceline/lock/foreign!1-0");
    CompletableFuture<Hold> waiting = a.lock("foreign").acquireAsync(BOUND);
    etcd.etcdctl("del", LOCKS + "foreign!1-0");
    assertThat(waiting.get(20, TimeUnit.SECONDS).release()).isNotNull();
  }

  @Test
  void aHoldersKeyThatSomeoneWrites_failsItsWaiters() throws Exception {
    Hold hold = a.lock("written").acquire(BOUND);
    CompletableFuture<Hold> waiting = b.lock("written").acquireAsync(BOUND);
    awaitWaiters("written", 1);
    String key = keys("written").lines().findFirst().orElseThrow();
    // It has the smaller revision, and keeps it.
    etcd.etcdctl("put", "--ignore-lease", key, "of another version");

    try (Fenceline c = client("c")) {
      assertThatThrownBy(() -> c.lock("written").tryAcquire())
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("is not of this version of Fenceline");
    }
    etcd.etcdctl("del", key);
    Eventually.until(BOUND, "the grant", waiting::isDone);
    assertThat(waiting.get().token()).isGreaterThan(hold.token());
    waiting.get().release();
  }

  @Test
  void aKeyThatIsNoClaim_isSaidByTheListing() {
    etcd.etcdctl("put", LOCKS + "stray", "x");

    assertThatThrownBy(() -> a.list("", 10))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("'/fenceline/lock/stray' is not of this version of Fenceline");
  }
}
