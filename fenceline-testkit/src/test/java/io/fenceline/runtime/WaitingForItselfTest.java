package io.fenceline.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Acquirable;
import io.fenceline.Fenceline;
import io.fenceline.Held;
import io.fenceline.Hold;
import io.fenceline.memory.MemorySpace;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import io.fenceline.testkit.log.LogCapture;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.event.Level;

/** A thread that waits for itself without limit never gets an exception: the log says so. */
@SuppressWarnings("MustBeClosedChecker") // What it never gets is what the tests are about.
class WaitingForItselfTest {
  private static final Duration BOUND = Duration.ofSeconds(20);

  private final ManualTime time = new ManualTime();
  private final MemorySpace space = MemorySpace.create(time::wallMillis);
  private final LogCapture log = LogCapture.open();
  private final Fenceline client = connect();

  private Fenceline connect() {
    return Fenceline.builder().store(space.factory()).time(time).connect();
  }

  @AfterEach
  void close() {
    client.close();
    log.close();
  }

  private List<String> lines() {
    return log.at(Level.WARN).stream().filter(line -> line.contains("itself holds")).toList();
  }

  private String lineOfItself() {
    awaitLine("itself holds");
    assertThat(lines()).hasSize(1);
    return lines().get(0);
  }

  private void awaitLine(String part) {
    Eventually.until(
        BOUND,
        "a line with " + part,
        () -> log.lines().stream().anyMatch(line -> line.text().contains(part)));
  }

  /** Acquires one after the other on one thread, and interrupts that once the second one waits. */
  private void nested(
      Acquirable<? extends Held> outer, Function<Held, Acquirable<? extends Held>> inner)
      throws InterruptedException {
    Thread thread =
        new Thread(
            () -> {
              try (Held held = outer.acquire();
                  Held again = inner.apply(held).acquire()) {
                throw new AssertionError("acquired twice: " + held + ", " + again);
              } catch (InterruptedException e) {
                // As it should: nothing else ends this wait.
              }
            },
            "nested");
    thread.setDaemon(true);
    thread.start();
    awaitLine("waiting in this client");
    thread.interrupt();
    thread.join(BOUND.toMillis());
    assertThat(thread.isAlive()).isFalse();
  }

  @Test
  void mutex() throws InterruptedException {
    nested(client.lock("ledger"), held -> client.lock("ledger"));

    assertThat(lineOfItself())
        .isEqualTo(
            "Thread 'nested' waits without limit for lock 'ledger', but itself holds the lock: to enter it again, use reenter() of the hold, or asReentrantLock() (store=memory:)");
  }

  @Test
  void readerThatWantsToWrite() throws InterruptedException {
    nested(client.readWriteLock("ledger").readLock(), held -> client.lock("ledger"));

    assertThat(lineOfItself())
        .isEqualTo(
            "Thread 'nested' waits without limit for lock 'ledger', but itself holds the read lock, which can't be upgraded: release it before you acquire the write lock (store=memory:)");
  }

  @Test
  void oneOfSeveral() throws InterruptedException {
    nested(client.lock("ledger"), held -> client.lockAll("before", "ledger"));

    assertThat(lineOfItself()).contains("lock 'ledger'", "itself holds the lock");
  }

  @Test
  void lastPermit() throws InterruptedException {
    nested(client.semaphore("ledger", 2).several(2), held -> client.semaphore("ledger", 2));

    assertThat(lineOfItself()).contains("but itself holds 2 of the 2 permits");
  }

  @Test
  void whatAnotherThreadHolds_isNoReasonToWarn() throws InterruptedException {
    Hold hold = client.lock("ledger").tryAcquire().orElseThrow();

    nested(client.lock("elsewhere"), mine -> client.lock("ledger"));

    assertThat(hold.release()).isNotNull();
    awaitLine("Lock 'ledger' released"); // After all that was said of the waiting.
    assertThat(lines()).isEmpty();
  }

  @Test
  void futureThatWaits_isNoReasonToWarn() {
    Hold hold = client.lock("ledger").tryAcquire().orElseThrow();
    CompletableFuture<Hold> waiting = client.lock("ledger").acquireAsync();

    assertThat(waiting.cancel(true)).isTrue();
    assertThat(hold.release()).isNotNull();
    awaitLine("Lock 'ledger' released");
    assertThat(lines()).isEmpty();
  }
}
