package io.fenceline.testkit.sim;

import io.fenceline.Fenceline;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Plays seeds: the real runtime of several clients, against a server behind a faulty network, in
 * virtual time and in one thread.
 *
 * <pre>{@code
 * Simulation.Outcome outcome = new Simulation(client -> 0).play(42);
 * assertThat(outcome.violation()).isEmpty();
 * }</pre>
 *
 * <p>The same seed gives the same run. Thread-safe: every run is a world of its own.
 */
public final class Simulation {
  private final ToIntFunction<Fenceline> leftovers;
  private final Consumer<@Nullable Runnable> log;

  /**
   * What became of a seed.
   *
   * @param seed which one
   * @param tally what happened in it
   * @param hash the same for two runs exactly if the same events ran at the same times
   * @param violation what did not hold, if anything
   * @param invariant which one, if any
   */
  public record Outcome(
      long seed,
      Tally tally,
      long hash,
      Optional<Invariant> invariant,
      Optional<String> violation) {}

  /**
   * A simulation.
   *
   * @param leftovers how much a client that nobody uses still has; it must be zero
   */
  public Simulation(ToIntFunction<Fenceline> leftovers) {
    this(leftovers, onLine -> {});
  }

  /**
   * A simulation whose log blocks, too.
   *
   * @param leftovers how much a client that nobody uses still has; it must be zero
   * @param log takes what the log has to call for each line that the calling thread writes, and
   *     null when it need not any more
   */
  public Simulation(ToIntFunction<Fenceline> leftovers, Consumer<@Nullable Runnable> log) {
    this.leftovers = leftovers;
    this.log = log;
  }

  /** Plays a seed. */
  public Outcome play(long seed) {
    Script script = Script.of(seed);
    Run run = new Run(script, false, leftovers);
    Violation violation = play(run);
    return new Outcome(
        seed,
        run.world.tally,
        run.world.hash(),
        Optional.ofNullable(violation).map(Violation::invariant),
        Optional.ofNullable(violation).map(Violation::getMessage));
  }

  /** Plays a seed again, and tells it: what is left of its script when shrunk, and who did what. */
  public String tell(long seed) {
    Script script = Script.of(seed);
    Violation whole = play(new Run(script, false, leftovers));
    Script told = whole == null ? script : shrink(script, whole);
    Run run = new Run(told, true, leftovers);
    Violation violation = play(run);
    StringBuilder text = new StringBuilder();
    text.append("Seed ").append(seed).append(": ");
    text.append(whole == null ? "no violation" : whole.getMessage()).append("\n");
    text.append("Script").append(whole == null ? "" : ", shrunk from " + script.steps().size());
    text.append(" to ").append(told.steps().size()).append(" steps (");
    text.append(told.machines()).append(" machines, pooled=").append(told.pooled());
    text.append(", direct=").append(told.direct()).append(", blocking=").append(told.blocking());
    text.append(", handOff=").append(told.handOff()).append("):\n");
    told.steps().forEach(step -> text.append("  ").append(step).append("\n"));
    text.append("Timeline:\n");
    run.world.timeline().forEach(line -> text.append(line).append("\n"));
    if (violation != null) {
      text.append(violation.getMessage()).append("\n");
      for (Throwable cause = violation.getCause(); cause != null; cause = cause.getCause()) {
        text.append("Caused by ").append(cause).append("\n");
        for (StackTraceElement element : cause.getStackTrace()) {
          text.append("    at ").append(element).append("\n");
        }
      }
    }
    text.append("Replay it with -Dfenceline.seed=").append(seed).append("\n");
    return text.toString();
  }

  private @Nullable Violation play(Run run) {
    log.accept(run::logged);
    try {
      run.play();
      return null;
    } catch (Violation e) {
      return e;
    } finally {
      log.accept(null);
      boolean unused = Thread.interrupted();
    }
  }

  /** Leaves out of the script what the failure does not need: halves first, single steps last. */
  private Script shrink(Script failing, Violation violation) {
    List<Script.Step> steps = new ArrayList<>(failing.steps());
    int chunk = Math.max(1, steps.size() / 2);
    while (true) {
      boolean shrunk = false;
      for (int from = 0; from < steps.size(); ) {
        List<Script.Step> fewer = new ArrayList<>(steps);
        fewer.subList(from, Math.min(steps.size(), from + chunk)).clear();
        if (failsAlike(failing.with(fewer), violation)) {
          steps = fewer;
          shrunk = true;
        } else {
          from += chunk;
        }
      }
      if (chunk == 1 && !shrunk) {
        return failing.with(steps);
      }
      chunk = Math.max(1, chunk / 2);
    }
  }

  private boolean failsAlike(Script script, Violation violation) {
    Violation found = play(new Run(script, false, leftovers));
    return found != null && found.kind().equals(violation.kind());
  }
}
