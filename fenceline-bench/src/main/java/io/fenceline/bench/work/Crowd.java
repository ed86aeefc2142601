package io.fenceline.bench.work;

import io.fenceline.bench.store.Venue;
import io.fenceline.testbed.process.JavaProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * What a hand-over costs by how many clients wait for the name: each a client of its own, with its
 * own connections, as in many copies of a service; a few processes share them.
 */
public final class Crowd {
  private static final Duration BOUND = Duration.ofMinutes(8);
  private static final int HEAP_MEGABYTES = 512;
  private static final int PROCESSES = 4;
  private static final double LONGEST_SECONDS = 240;

  /** With fewer clients, the time to connect is mostly that of the processes to start. */
  private static final int ENOUGH_TO_JUDGE = 50;

  private Crowd() {}

  /**
   * One point of the curve.
   *
   * @param clients how many want the name, all of the time
   * @param cyclesPerSecond of all together
   * @param handOvers from the end of the work under the lock in one client to the lock in another
   * @param clientMicros CPU time of all clients, a cycle
   * @param serverMicros CPU time of the server, a cycle
   * @param perHandOver what came over the wire, a hand-over
   * @param failures how many acquires timed out, or had no answer of the store
   */
  public record Point(
      int clients,
      double cyclesPerSecond,
      Histogram handOvers,
      double clientMicros,
      double serverMicros,
      List<Series.PerCycle> perHandOver,
      long failures) {}

  /** What all processes did in a turn. */
  private record Sum(
      long cycles, double seconds, Histogram handOvers, double clientMicros, long failures) {}

  /** Measures all points. */
  public static List<Point> measure(Venue venue, Effort effort, Progress progress)
      throws Exception {
    progress.begin("crowd");
    List<Point> points = new ArrayList<>();
    double secondsAClient = 0;
    for (int clients : effort.clients()) {
      if (secondsAClient * clients > LONGEST_SECONDS) {
        progress.skip("%,d clients: connecting them would take minutes".formatted(clients));
        break;
      }
      long start = System.nanoTime();
      try (Members members = new Members(venue, clients)) {
        if (clients >= ENOUGH_TO_JUDGE) {
          secondsAClient = (System.nanoTime() - start) / 1e9 / clients;
        }
        points.add(point(venue, members, clients, effort));
      }
      progress.step();
    }
    progress.end();
    return points;
  }

  private static Point point(Venue venue, Members members, int clients, Effort effort)
      throws IOException {
    int millis = effort.turns().millis() * effort.turns().rounds();
    String name = "crowd-" + clients;
    members.turn(name, millis); // These processes have not been through anything yet.
    long serverBefore = venue.cpuNanos();
    Sum sum = members.turn(name, millis);
    double serverMicros = (venue.cpuNanos() - serverBefore) / 1e3;
    Venue.Wire wire = venue.count();
    Sum counted = members.turn(name, effort.turns().millis());
    double handOvers = Math.max(1, counted.handOvers.count());
    List<Series.PerCycle> perHandOver =
        wire.stop().stream()
            .map(count -> new Series.PerCycle(count.kind(), count.total() / handOvers))
            .toList();
    double cycles = Math.max(1, sum.cycles);
    return new Point(
        clients,
        sum.cycles / sum.seconds,
        sum.handOvers,
        sum.clientMicros / cycles,
        serverMicros / cycles,
        perHandOver,
        sum.failures + counted.failures);
  }

  /** The processes. */
  private static final class Members implements AutoCloseable {
    private final List<JavaProcess> processes = new ArrayList<>();
    private final Path file;

    Members(Venue venue, int clients) throws IOException {
      this.file =
          Files.write(Files.createTempFile("fenceline-crowd", ""), new byte[SharedGuard.BYTES]);
      int count = Math.min(PROCESSES, clients);
      try {
        for (int i = 0; i < count; i++) {
          int first = clients * i / count;
          int next = clients * (i + 1) / count;
          processes.add(
              Member.start(
                  CrowdMember.class,
                  HEAP_MEGABYTES,
                  List.of(
                      venue.address(),
                      file.toString(),
                      Integer.toString(first),
                      Integer.toString(next - first))));
        }
        processes.forEach(process -> process.expect("ready", BOUND));
      } catch (Throwable e) {
        close();
        throw e;
      }
    }

    Sum turn(String name, int millis) throws IOException {
      SharedGuard guard = new SharedGuard(file, 0);
      guard.reset();
      long start = System.nanoTime();
      String order = "run %d %s".formatted(start + millis * 1_000_000L, name);
      processes.forEach(process -> process.send(order));
      long cycles = 0;
      long failures = 0;
      double clientMicros = 0;
      Histogram handOvers = new Histogram();
      for (JavaProcess process : processes) {
        String[] words = process.expect("done ", BOUND).split(" ", -1);
        cycles += Long.parseLong(words[1]);
        failures += Long.parseLong(words[2]);
        handOvers.add(Histogram.parse(words[3]));
        clientMicros += Double.parseDouble(words[4]);
      }
      if (guard.count() != cycles) {
        throw new BrokenLockException(
            cycles + " cycles, but the shared counter says " + guard.count());
      }
      double seconds = Math.max(1, guard.leftNanos() - start) / 1e9;
      return new Sum(cycles, seconds, handOvers, clientMicros, failures);
    }

    @Override
    public void close() {
      processes.forEach(JavaProcess::close);
      try {
        Files.deleteIfExists(file);
      } catch (IOException e) {
        // It is in a folder for what is left behind.
      }
    }
  }
}
