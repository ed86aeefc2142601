package io.fenceline.bench.work;

import io.fenceline.bench.contender.Contender;
import io.fenceline.bench.contender.Field;
import io.fenceline.bench.contender.Field.Player;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One process of a fleet, told what to do by lines: the store, its address and the file first (an
 * address may have a password, which a list of processes would show), then {@code run CONTENDER
 * THREADS UNTIL STAY NAME} for each turn, with the moment and the stay inside in nanoseconds.
 */
final class FleetMember {
  /** Of a single thread, from turn to turn: what hands on in a ring has its place there. */
  private static final Map<String, Contender.Cycle> KEPT = new HashMap<>();

  private FleetMember() {}

  /** Makes what a thread does. */
  private interface Cycles {
    Contender.Cycle get() throws Exception;
  }

  private static Cycles kept(Contender contender, String name) throws Exception {
    String key = System.identityHashCode(contender) + " " + name;
    Contender.Cycle cycle = KEPT.get(key);
    if (cycle == null) {
      cycle = contender.on(name);
      KEPT.put(key, cycle);
    }
    Contender.Cycle same = cycle;
    return () -> same;
  }

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    String store = in.readLine();
    String address = in.readLine();
    Path file = Path.of(in.readLine());
    long process = ProcessHandle.current().pid();
    List<String> wanted = List.of(in.readLine().split(",", -1));
    try (Field field = Field.open(store, address, wanted::contains)) {
      System.out.println("ready");
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String[] words = line.split(" ", -1);
        Contender contender =
            field.all().stream()
                .filter(player -> player.entrant().id().equals(words[1]))
                .findFirst()
                .map(Player::contender)
                .orElseThrow();
        int threads = Integer.parseInt(words[2]);
        SharedGuard guard = new SharedGuard(file, process, Long.parseLong(words[4]));
        long cpu = Crew.clientNanos();
        long compiler = Crew.compilerMillis();
        Cycles made = threads == 1 ? kept(contender, words[5]) : () -> contender.on(words[5]);
        String done = run(made, threads, Long.parseLong(words[3]), guard);
        long micros = (Crew.clientNanos() - cpu) / 1_000;
        System.out.println(done + " " + micros + " " + (Crew.compilerMillis() - compiler));
      }
    }
    System.exit(0); // Some clients leave threads behind.
  }

  /** Goes through cycles until a moment of the machine's clock. */
  private static String run(Cycles made, int threads, long until, SharedGuard guard)
      throws Exception {
    AtomicLong cycles = new AtomicLong();
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<CompletableFuture<Histogram>> parts = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        CompletableFuture<Histogram> part = new CompletableFuture<>();
        parts.add(part);
        pool.execute(
            () -> {
              try {
                part.complete(work(made.get(), until, guard, cycles));
              } catch (Throwable e) { // Whatever it is, the run has failed by it.
                part.completeExceptionally(e);
              }
            });
      }
      Histogram waits = new Histogram();
      for (CompletableFuture<Histogram> part : parts) {
        waits.add(part.get());
      }
      return "done " + cycles + " " + waits.text() + " " + guard.handOffs().text();
    } finally {
      pool.shutdown();
    }
  }

  private static Histogram work(
      Contender.Cycle cycle, long until, SharedGuard guard, AtomicLong cycles) throws Exception {
    Histogram waits = new Histogram();
    while (System.nanoTime() < until) {
      long asked = System.nanoTime();
      long[] entered = new long[1];
      cycle.run(
          token -> {
            entered[0] = System.nanoTime();
            guard.run(token);
          });
      if (entered[0] != 0) {
        waits.add(entered[0] - asked);
        cycles.incrementAndGet();
      }
    }
    return waits;
  }
}
