package io.fenceline.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.StoreUnavailableException;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Owner;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testbed.server.ZooKeeperServer;
import io.fenceline.testkit.Eventually;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import io.fenceline.zookeeper.claim.Claim;
import io.fenceline.zookeeper.claim.ClaimTuning;
import io.fenceline.zookeeper.layout.Layout;
import io.fenceline.zookeeper.layout.QueueNode;
import io.fenceline.zookeeper.renewal.SessionNodes;
import io.fenceline.zookeeper.session.Session;
import io.fenceline.zookeeper.session.Sessions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Claims that cross with an end: of their store, of their session, of their node. */
class CrossingEndsTest {
  private static final Layout PATHS = new Layout("/crossing");

  private static ZooKeeperServer server;

  private final AtomicReference<ZooKeeperStore> store = new AtomicReference<>();
  private final AtomicReference<StoreContext> storeContext = new AtomicReference<>();
  private final AtomicReference<Runnable> atNextLook = new AtomicReference<>(() -> {});
  private final Heard heard = new Heard();
  private CuratorFramework curator;
  private Fenceline client;

  @BeforeAll
  static void start() {
    server = ZooKeeperServer.start(Duration.ofSeconds(2));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  /** What a claim is told, in order. */
  private static final class Heard implements ClaimHandler {
    final List<String> all = new CopyOnWriteArrayList<>();

    @Override
    public void granted(Grant grant) {
      all.add("granted");
    }

    @Override
    public void waiting(Obstacle obstacle) {
      all.add("waiting");
    }

    @Override
    public void refused(Obstacle obstacle) {
      all.add("refused");
    }

    @Override
    public void failed(RuntimeException cause) {
      all.add("failed");
    }

    @Override
    public void gone() {
      all.add("gone");
    }
  }

  /** The time as it is; whoever looks at the clock may be interrupted by a test. */
  private record InterruptedTime(Time real, AtomicReference<Runnable> atNextLook) implements Time {
    @Override
    public long nanos() {
      atNextLook.get().run();
      return real.nanos();
    }

    @Override
    public long wallMillis() {
      return real.wallMillis();
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
      return real.schedule(delayNanos, task);
    }

    @Override
    public Executor lane(Lane lane) {
      return real.lane(lane);
    }

    @Override
    public void park(Object blocker, long maxNanos) {
      real.park(blocker, maxNanos);
    }

    @Override
    public void close() {
      real.close();
    }
  }

  @BeforeEach
  void connect() {
    curator =
        CuratorFrameworkFactory.newClient(server.address(), 40_000, 20_000, new RetryOneTime(100));
    curator.start();
    // Nothing is known of a session that was there before: a grant is told after a tick at most.
    ZooKeeperStores locks =
        ZooKeeperStores.from(curator)
            .root(PATHS.root)
            .tick(Duration.ofSeconds(20))
            .tuned(new ClaimTuning(true, 0)); // A waiter watches its own node, as in a long queue.
    client =
        Fenceline.builder()
            .store(
                (StoreFactory)
                    context -> {
                      StoreContext interrupted =
                          new StoreContext(
                              context.client(),
                              new InterruptedTime(context.time(), atNextLook),
                              context.random(),
                              context.connectTimeout(),
                              context.operationTimeout());
                      storeContext.set(interrupted);
                      store.set((ZooKeeperStore) locks.open(interrupted));
                      return store.get();
                    })
            .connectTimeout(Duration.ofSeconds(20))
            .connect();
  }

  @AfterEach
  void close() {
    client.close();
    curator.close();
  }

  private static ClaimRequest claim(String name) {
    return claim(name, Duration.ofSeconds(10));
  }

  private static ClaimRequest claim(String name, Duration lease) {
    Owner owner = Owner.draw(new SecureRandom());
    return new ClaimRequest(name, owner, Mode.EXCLUSIVE, lease, Duration.ZERO, true);
  }

  private List<String> nodes(String name) throws Exception {
    String parent = PATHS.of(name);
    return curator.checkExists().forPath(parent) == null
        ? List.of()
        : curator.getChildren().forPath(parent);
  }

  private Claim grantedButUntold(ClaimRequest request) throws Exception {
    store.get().claim(request, heard);
    Claim claim = store.get().claims.find(request);
    Eventually.until(
        Fleet.AMPLE, "the grant", () -> claim.isGrantedOn(store.get().sessions.current()));
    assertThat(nodes(request.name())).hasSize(1);
    assertThat(heard.all).as("nothing is proven of the session yet").isEmpty();
    return claim;
  }

  @Test
  void grantWhoseNodeIsGoneBeforeItIsTold_isNotTold() throws Exception {
    ClaimRequest request = claim("untold");
    Claim claim = grantedButUntold(request);
    Session session = store.get().sessions.current();

    curator.delete().forPath(PATHS.of("untold") + "/" + nodes("untold").get(0));
    claim.gone(); // As the next listing of the session's nodes finds out.
    store.get().heartbeat.giveUpOn(session);

    assertThat(heard.all).containsExactly("failed");
  }

  @Test
  void grantWhoseSessionEndsBeforeItIsTold_isNotTold() throws Exception {
    grantedButUntold(claim("untold-session"));

    endSession();

    Eventually.until(Fleet.AMPLE, "an answer", () -> !heard.all.isEmpty());
    assertThat(heard.all).containsExactly("failed");
  }

  @Test
  void grantThatIsGoneWhileItIsTold_isGoneAfterwards() throws Exception {
    ClaimRequest request = claim("telling");
    AtomicReference<Claim> claim = new AtomicReference<>();
    ClaimHandler crossing =
        new ClaimHandler() {
          @Override
          public void granted(Grant grant) {
            claim.get().gone();
            heard.granted(grant);
          }

          @Override
          public void waiting(Obstacle obstacle) {
            heard.waiting(obstacle);
          }

          @Override
          public void refused(Obstacle obstacle) {
            heard.refused(obstacle);
          }

          @Override
          public void failed(RuntimeException cause) {
            heard.failed(cause);
          }

          @Override
          public void gone() {
            heard.gone();
          }
        };
    claim.set(grantedButUntold(request));
    claim.get().ask(crossing);

    store.get().heartbeat.giveUpOn(store.get().sessions.current());

    assertThat(heard.all).containsExactly("granted", "gone");
  }

  @Test
  void waiterFarBehind_thatAsksAgainAfterAFailure_isToldWhoIsInTheWay() throws Exception {
    String name = "far-behind";
    curator.create().creatingParentsIfNeeded().forPath(PATHS.of(name));
    for (int i = 0; i < 2; i++) {
      String other = QueueNode.prefix(Mode.EXCLUSIVE, true, "other", "tag" + i);
      curator
          .create()
          .withMode(CreateMode.EPHEMERAL_SEQUENTIAL)
          .forPath(PATHS.of(name) + "/" + other);
    }
    ClaimRequest request = claim(name, Duration.ofHours(1)); // It polls once a lease: never here.
    store.get().claim(request, heard);
    Eventually.until(Fleet.AMPLE, "the wait", () -> heard.all.contains("waiting"));
    String own =
        nodes(name).stream()
            .filter(node -> node.contains(QueueNode.tagOf(request.owner())))
            .findFirst()
            .orElseThrow();
    curator.setData().forPath(PATHS.of(name) + "/" + own);
    Eventually.until(Fleet.AMPLE, "the failure", () -> heard.all.contains("failed"));

    Heard again = new Heard();
    store.get().claim(request, again);

    Eventually.until(Fleet.AMPLE, "an answer", () -> again.all.contains("waiting"));
    assertThat(again.all).containsExactly("waiting");
    Fleet.get(store.get().withdraw(request));
  }

  private void endSession() throws Exception {
    ZooKeeper victim = curator.getZookeeperClient().getZooKeeper();
    CompletableFuture<Void> connected = new CompletableFuture<>();
    ZooKeeper twin =
        new ZooKeeper(
            server.address(),
            victim.getSessionTimeout(),
            event -> connected.complete(null),
            victim.getSessionId(),
            victim.getSessionPasswd());
    Fleet.get(connected);
    twin.close();
  }

  @Test
  void handleOfASessionThatWasReplaced_doesNotEndTheOneOfNow() throws Exception {
    Sessions sessions = store.get().sessions;
    Session first = sessions.current();
    endSession();
    Eventually.until(
        Fleet.AMPLE,
        "the next session",
        () -> {
          try {
            return sessions.current() != first;
          } catch (StoreUnavailableException e) {
            return false;
          }
        });
    Session live = sessions.current();

    // A thread that was given the handle before, and was held up since.
    assertThatThrownBy(() -> sessions.renewed(first.zk))
        .isInstanceOf(StoreUnavailableException.class);

    assertThat(live.hasEnded()).isFalse();
    assertThat(sessions.current()).isSameAs(live);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void claimThatIsSentWhileTheStoreIsClosed_leavesNoNode(int look) throws Exception {
    String name = "closing-" + look;
    curator.create().creatingParentsIfNeeded().forPath(PATHS.of(name));
    Thread claiming = Thread.currentThread();
    AtomicInteger looks = new AtomicInteger();
    // It looks at the clock when it begins, and right before it sends its request.
    atNextLook.set(
        () -> {
          if (Thread.currentThread() == claiming && looks.incrementAndGet() == look) {
            store.get().close();
          }
        });

    store.get().claim(claim(name), heard);

    assertThat(looks).hasValueGreaterThanOrEqualTo(look);
    Eventually.until(Fleet.AMPLE, "no node to be left", () -> nodes(name).isEmpty());
    assertThat(heard.all).containsExactly("failed");
  }

  @Test
  void claimThatIsSentAfterItWasGivenUp_leavesNoNode() throws Exception {
    String name = "held-up";
    curator.create().creatingParentsIfNeeded().forPath(PATHS.of(name));
    ClaimRequest request = claim(name);
    CountDownLatch isHeldUp = new CountDownLatch(1);
    CountDownLatch goesOn = new CountDownLatch(1);
    AtomicInteger looks = new AtomicInteger();
    Thread claiming = new Thread(() -> store.get().claim(request, heard));
    // It looks at the clock when it begins, and right before it sends its request.
    atNextLook.set(
        () -> {
          if (Thread.currentThread() == claiming && looks.incrementAndGet() == 2) {
            isHeldUp.countDown();
            awaitQuietly(goesOn);
          }
        });
    claiming.start();
    assertThat(isHeldUp.await(20, TimeUnit.SECONDS)).isTrue();
    store.get().claims.find(request).checkOverdue(0, Long.MIN_VALUE);
    Fleet.get(store.get().withdraw(request));

    goesOn.countDown();
    claiming.join();

    // Asked on the same session, and so after whatever that thread has sent.
    assertThat(nodes(name)).isEmpty();
    assertThat(heard.all).containsExactly("failed");
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void nodeThatNobodyKnows_isDeleted_thoughNoClaimIsLeft() throws Exception {
    ClaimRequest request = claim("orphan");
    grantedButUntold(request);
    String clientTag = QueueNode.parse(nodes("orphan").get(0)).client();
    Fleet.get(store.get().withdraw(request));
    assertThat(store.get().claims.isEmpty()).isTrue();
    String orphan = QueueNode.prefix(Mode.EXCLUSIVE, true, clientTag, "tag");
    curator
        .create()
        .withMode(CreateMode.EPHEMERAL_SEQUENTIAL)
        .forPath(PATHS.of("orphan") + "/" + orphan);

    Sessions sessions = store.get().sessions;
    new SessionNodes(storeContext.get(), sessions, PATHS, store.get().claims, clientTag, "")
        .check(sessions.current());

    Eventually.until(Fleet.AMPLE, "no node to be left", () -> nodes("orphan").isEmpty());
  }

  @Test
  void sessionThatEndsWhileItIsLookedAt_isNotTakenForTheOneOfNow() throws Exception {
    ZooKeeper zk = curator.getZookeeperClient().getZooKeeper();
    Sessions sessions =
        new Sessions(curator, storeContext.get(), "test", null, Duration.ofSeconds(2), old -> {});
    Thread looking = Thread.currentThread();
    atNextLook.set(
        () -> {
          if (Thread.currentThread() == looking && zk.getState().isAlive()) {
            endQuietly();
            Eventually.until(Fleet.AMPLE, "the end", () -> !zk.getState().isAlive());
          }
        });

    // What is seen now was there before the next session, if the clock is read before the look.
    assertThatThrownBy(() -> sessions.renewed(zk)).isInstanceOf(StoreUnavailableException.class);
  }

  private void endQuietly() {
    try {
      endSession();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
