package io.fenceline.bench.work;

import io.fenceline.bench.contender.Contender;
import io.fenceline.bench.contender.Entrant;
import io.fenceline.bench.contender.Entrants;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A process that has one contender to itself, told what to do by lines: the store, its address and
 * the contender first, then {@code run WORK MILLIS} for each turn, or {@code count WORK CYCLES}.
 *
 * <p>To a turn it prints {@code going} when all threads are at work, and {@code done CYCLES SECONDS
 * MICROS COMPILED} with the CPU time that it took, and how long the compiler was at work.
 */
final class Racer {
  private final Contender contender;
  private final BufferedReader in;

  private Racer(Contender contender, BufferedReader in) {
    this.contender = contender;
    this.in = in;
  }

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    String store = in.readLine();
    String address = in.readLine();
    String id = in.readLine();
    Entrant entrant =
        Entrants.of(store).stream().filter(each -> each.id().equals(id)).findFirst().orElseThrow();
    try (Contender contender = entrant.opener().open(address)) {
      System.out.println("ready");
      new Racer(contender, in).work();
    }
    System.exit(0); // Some clients leave threads behind.
  }

  private void work() throws Exception {
    String line = in.readLine();
    while (line != null) {
      line = workOn(Shape.called(line.split(" ", -1)[1]), line);
    }
  }

  /** Goes through all turns of one work; gives the first line that is of another one. */
  private @Nullable String workOn(Shape shape, String first) throws Exception {
    try (Crew crew = new Crew(shape.threads())) {
      String line = first;
      while (line != null && line.split(" ", -1)[1].equals(shape.id())) {
        obey(crew, shape, line.split(" ", -1));
        line = in.readLine();
      }
      return line;
    }
  }

  private void obey(Crew crew, Shape shape, String[] words) throws Exception {
    long amount = Long.parseLong(words[2]);
    if (words[0].equals("count")) {
      System.out.println("done " + crew.runCycles(contender, shape::nameFor, amount));
      return;
    }
    Crew.Turn turn =
        crew.run(
            contender,
            shape::nameFor,
            shape.stayMillis() * 1_000_000L,
            amount,
            () -> System.out.println("going"));
    System.out.println(
        String.format(
            Locale.ROOT,
            "done %d %.9f %.3f %.3f",
            turn.cycles(),
            turn.seconds(),
            turn.cpuMicros(),
            turn.compilerMicros()));
  }
}
