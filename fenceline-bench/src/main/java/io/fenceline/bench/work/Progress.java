package io.fenceline.bench.work;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;

/** Says what is going on, one line a work. */
public final class Progress {
  private final PrintStream out;
  private final String store;
  private final List<String> leftOut = new ArrayList<>();
  private String work = "";
  private long startNanos;

  /** For one store. */
  public Progress(PrintStream out, String store) {
    this.out = out;
    this.store = store;
  }

  /** A work begins. */
  public void begin(String work) {
    this.work = work;
    startNanos = System.nanoTime();
    out.printf("%-11s %-12s ", store, work);
    out.flush();
  }

  /** A part of it is done. */
  public void step() {
    out.print('.');
    out.flush();
  }

  /** A part of it is left out. */
  public void skip(String why) {
    out.print(" (left out: " + why + ")");
    leftOut.add(work + ": " + why);
  }

  /** What was left out, and why. */
  public List<String> leftOut() {
    return List.copyOf(leftOut);
  }

  /** It has ended. */
  public void end() {
    out.printf(" %.0f s%n", (System.nanoTime() - startNanos) / 1e9);
  }
}
