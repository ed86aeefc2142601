package io.fenceline.testbed.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testbed.proxy.Direction;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What a store must do over a client that the application has handed in, and that lives on when
 * Fenceline is closed: nothing that the application keeps alive may keep a name closed.
 */
@SuppressWarnings("MustBeClosedChecker") // Clients and holds are closed by the test itself.
public abstract class GivenClientContract {

  /** The application's client, and a store over it. */
  public interface GivenClient extends AutoCloseable {

    StoreFactory store();

    /** Fails if the client did not survive the outage: the test would show nothing. */
    default void checkThatItLives() throws Exception {}

    @Override
    void close() throws Exception;
  }

  private static final Duration BOUND = Duration.ofSeconds(40);
  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final Duration BRIEF = Duration.ofSeconds(2);
  private static final Duration OUTAGE = Duration.ofSeconds(4);

  private FaultProxy proxy;
  private GivenClient given;
  private Fenceline closing;
  private Fenceline other;

  /** A subclass has a constructor without arguments. */
  protected GivenClientContract() {}

  /** Opens a proxy in front of the server. */
  protected abstract FaultProxy openProxy();

  /** Opens a client of the application that connects through the proxy. */
  protected abstract GivenClient openClient(FaultProxy through) throws Exception;

  /** The same store, without the proxy, over a client of its own. */
  protected abstract StoreFactory direct();

  @BeforeEach
  final void open() throws Exception {
    proxy = openProxy();
    given = openClient(proxy);
    closing = client("closing", given.store());
    other = client("other", direct());
  }

  @AfterEach
  final void close() throws Exception {
    proxy.heal();
    closing.close();
    other.close();
    given.close();
    proxy.close();
  }

  private static Fenceline client(String label, StoreFactory store) {
    return Fenceline.builder()
        .store(store)
        .label(label)
        .connectTimeout(Duration.ofSeconds(20))
        .operationTimeout(BRIEF)
        .defaultOptions(LockOptions.defaults().lease(LEASE))
        .connect();
  }

  private String name(String word) {
    return word + "-" + proxy.port();
  }

  /** Closes Fenceline while the server can't be reached; the application's client goes on. */
  private void closeDuringAnOutage() throws Exception {
    Fault refusing = proxy.refuseConnections();
    Eventually.until(
        BOUND,
        "all connections to be cut",
        () -> {
          proxy.closeAll();
          return proxy.connections() == 0;
        });
    closing.close();
    // Long enough that whatever was sent at the close has failed by then.
    long closed = System.nanoTime();
    Eventually.until(BOUND, "a while", () -> System.nanoTime() - closed > OUTAGE.toNanos());
    assertThat(proxy.connections()).as("nobody was let through: %s", refusing).isZero();
    proxy.heal();
    given.checkThatItLives();
  }

  @Test
  void closeDuringAnOutage_freesWhatWasHeld_thoughTheClientLivesOn() throws Exception {
    String name = name("held");
    Hold hold = closing.lock(name).acquire(BOUND);
    closeDuringAnOutage();
    assertThat(hold.isValid()).isFalse();
    try (Hold next = other.lock(name).acquire(BOUND)) {
      assertThat(next.token()).isGreaterThan(hold.token());
    }
  }

  @Test
  void closeDuringAnOutage_leavesNoWaiterInTheQueue() throws Exception {
    String name = name("waited-for");
    Hold hold = other.lock(name).acquire(BOUND);
    CompletableFuture<Hold> waiting = closing.lock(name).acquireAsync(BOUND);
    Eventually.until(BOUND, "a waiter", () -> other.inspect(name).waiters().size() == 1);
    closeDuringAnOutage();
    Eventually.until(BOUND, "an empty queue", () -> other.inspect(name).waiters().isEmpty());
    Eventually.until(BOUND, "the waiter to be told", waiting::isCompletedExceptionally);
    hold.release();
    assertThat(other.lock(name).tryAcquire().map(Hold::release)).isPresent();
  }

  @Test
  void closeDuringAnOutage_undoesAClaimThatWasNotAnswered() throws Exception {
    String name = name("asked-for");
    closing.lock(name).acquire(BOUND).close(); // So that one request is all that it takes.
    Fault silent = proxy.stall(Direction.TO_CLIENT);
    CompletableFuture<Hold> asking = closing.lock(name).acquireAsync(BOUND);
    Eventually.until(BOUND, "the grant", () -> other.inspect(name).holders().size() == 1);
    Eventually.until(BOUND, "the answer to be kept back", () -> silent.timesApplied() > 0);
    closeDuringAnOutage();
    Eventually.until(BOUND, "the caller to be told", asking::isCompletedExceptionally);
    other.lock(name).acquire(BOUND).close();
  }
}
