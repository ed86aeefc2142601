package io.fenceline.bench.work;

import io.fenceline.FencedLock;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockTimeoutException;
import io.fenceline.StoreUnavailableException;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * One process of a crowd, with many clients of one thread each, told what to do by lines: the
 * address, the file, the number of its first client and how many there are first, then {@code run
 * UNTIL NAME} for each turn, with the moment in nanoseconds.
 */
final class CrowdMember {
  private static final Duration LONG = Duration.ofMinutes(5);

  /** Whoever has not been served by then is counted as timed out. */
  private static final Duration LONGEST_WAIT = Duration.ofMinutes(1);

  private CrowdMember() {}

  /** What one client did in a turn. */
  private static final class Tally {
    final SharedGuard guard;
    long cycles;
    long failures;

    Tally(SharedGuard guard) {
      this.guard = guard;
    }
  }

  /** Runs it. */
  @SuppressWarnings("MustBeClosedChecker") // They end with the process.
  public static void main(String[] args) throws Exception {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    String address = in.readLine();
    Path file = Path.of(in.readLine());
    int first = Integer.parseInt(in.readLine());
    int count = Integer.parseInt(in.readLine());
    List<Fenceline> clients = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      clients.add(Fenceline.builder().store(address).connectTimeout(LONG).connect());
    }
    System.out.println("ready");
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split(" ", -1);
      long cpu = Crew.clientNanos();
      String done = run(clients, first, file, Long.parseLong(words[1]), words[2]);
      System.out.println(done + " " + (Crew.clientNanos() - cpu) / 1_000);
    }
    System.exit(0); // Closing hundreds of clients takes longer than a turn.
  }

  private static String run(List<Fenceline> clients, int first, Path file, long until, String name)
      throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(clients.size());
    try {
      List<CompletableFuture<Tally>> parts = new ArrayList<>();
      for (int i = 0; i < clients.size(); i++) {
        FencedLock lock = clients.get(i).lock(name);
        Tally tally = new Tally(new SharedGuard(file, first + i + 1));
        CompletableFuture<Tally> part = new CompletableFuture<>();
        parts.add(part);
        threads.execute(
            () -> {
              try {
                work(lock, until, tally);
                part.complete(tally);
              } catch (Throwable e) { // Whatever it is, the run has failed by it.
                part.completeExceptionally(e);
              }
            });
      }
      Histogram handOvers = new Histogram();
      long cycles = 0;
      long failures = 0;
      for (CompletableFuture<Tally> part : parts) {
        Tally tally = part.get();
        handOvers.add(tally.guard.handOffs());
        cycles += tally.cycles;
        failures += tally.failures;
      }
      return "done " + cycles + " " + failures + " " + handOvers.text();
    } finally {
      threads.shutdown();
      threads.awaitTermination(1, TimeUnit.SECONDS);
    }
  }

  private static void work(FencedLock lock, long until, Tally tally) throws Exception {
    while (System.nanoTime() < until) {
      try (Hold hold = lock.acquire(LONGEST_WAIT)) {
        tally.guard.run(hold.token());
        tally.cycles++;
      } catch (LockTimeoutException | StoreUnavailableException e) {
        tally.failures++;
      }
    }
  }
}
