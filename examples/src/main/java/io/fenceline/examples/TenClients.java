package io.fenceline.examples;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Does only one of many get the lock, and can nobody give back what another one holds? */
public final class TenClients {
  private static final int CLIENTS = 10;
  private static final String NAME = "lock:order";

  private TenClients() {}

  /** Runs it. */
  public static void main(String[] arguments) throws IOException {
    run(System.out);
  }

  static void run(PrintStream out) throws IOException {
    try (Scratch scratch = Scratch.create()) {
      takeTurns(scratch.locks(), out);
      race(scratch.locks(), out);
    }
  }

  private static void takeTurns(String locks, PrintStream out) {
    try (Fenceline clientA = Fenceline.connect(locks);
        Fenceline clientB = Fenceline.connect(locks)) {
      Hold a = clientA.lock(NAME).tryAcquire().orElseThrow();
      out.println("A acquires: true");
      out.println("B acquires: " + clientB.lock(NAME).tryAcquire().isPresent());
      // B has no hold that it could release. Even by force it has to name A's grant, and can't by
      // chance.
      out.println("B releases: " + clientB.forceRelease(NAME, a.token() - 256));
      out.println("A still holds it: " + a.isValid());
      out.println("A releases: " + a.release());
      Optional<Hold> b = clientB.lock(NAME).tryAcquire();
      out.println("B acquires again: " + b.isPresent());
      b.ifPresent(Hold::release);
    }
  }

  private static void race(String locks, PrintStream out) {
    ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
    CountDownLatch ready = new CountDownLatch(CLIENTS);
    CountDownLatch tried = new CountDownLatch(CLIENTS);
    List<CompletableFuture<Boolean>> races = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      races.add(CompletableFuture.supplyAsync(() -> hasAcquired(locks, ready, tried), threads));
    }
    long acquired = races.stream().filter(CompletableFuture::join).count();
    threads.shutdown();
    out.printf("Ten clients at once: %d acquired, %d did not%n", acquired, CLIENTS - acquired);
  }

  private static boolean hasAcquired(String locks, CountDownLatch ready, CountDownLatch tried) {
    try (Fenceline client = Fenceline.connect(locks)) {
      ready.countDown();
      awaitQuietly(ready);
      Optional<Hold> hold = client.lock(NAME).tryAcquire();
      tried.countDown();
      awaitQuietly(tried); // Whoever has it keeps it until all have tried.
      hold.ifPresent(Hold::release);
      return hold.isPresent();
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
