package io.fenceline.testkit.fence;

import io.fenceline.FencingToken;
import io.fenceline.StaleTokenException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * What many writers with tokens in random order were told by a fence, and when.
 *
 * <pre>{@code
 * FenceHistory history = FenceHistory.of(cell, 16, 20, 7);
 * assertThat(history.violations()).isEmpty();
 * }</pre>
 *
 * @param writes every write, in the order of its beginning
 */
public record FenceHistory(List<Write> writes) {

  /**
   * One write.
   *
   * @param token what it came with
   * @param accepted whether it passed
   * @param beganNanos when it was sent
   * @param endedNanos when its verdict was known
   */
  public record Write(long token, boolean accepted, long beganNanos, long endedNanos) {}

  /** Keeps the writes. */
  public FenceHistory {
    writes = List.copyOf(writes);
  }

  /**
   * Lets writers race; the value that a token writes is its number.
   *
   * @param perWriter how many tokens each has
   * @param seed for the order of the tokens
   */
  public static FenceHistory of(FencedCell cell, int writers, int perWriter, long seed) {
    List<Long> tokens = new ArrayList<>();
    for (long token = 1; token <= (long) writers * perWriter; token++) {
      tokens.add(token);
    }
    Collections.shuffle(tokens, new Random(seed));
    ExecutorService threads = Executors.newFixedThreadPool(writers);
    try {
      List<Callable<List<Write>>> tasks = new ArrayList<>();
      for (int i = 0; i < writers; i++) {
        List<Long> own = tokens.subList(i * perWriter, (i + 1) * perWriter);
        tasks.add(() -> own.stream().map(token -> write(cell, token)).toList());
      }
      List<Write> all = new ArrayList<>();
      for (Future<List<Write>> writer : threads.invokeAll(tasks)) {
        all.addAll(writer.get());
      }
      all.sort(Comparator.comparingLong(Write::beganNanos));
      return new FenceHistory(all);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("Interrupted", e);
    } catch (ExecutionException e) {
      throw new AssertionError("A writer failed: " + e.getCause(), e.getCause());
    } finally {
      threads.shutdownNow();
    }
  }

  private static Write write(FencedCell cell, long token) {
    long began = System.nanoTime();
    boolean accepted = true;
    try {
      cell.write(Long.toString(token), FencingToken.exclusive(token));
    } catch (StaleTokenException e) {
      accepted = false;
    }
    return new Write(token, accepted, began, System.nanoTime());
  }

  /** Every write that was accepted although a larger token had been accepted before it began. */
  public List<String> violations() {
    List<String> found = new ArrayList<>();
    for (Write late : writes) {
      for (Write earlier : writes) {
        if (late.accepted
            && earlier.accepted
            && earlier.endedNanos < late.beganNanos
            && earlier.token > late.token) {
          found.add(late + " was accepted after " + earlier);
        }
      }
    }
    return found;
  }

  /** Returns the largest token that was accepted. */
  public long largestAccepted() {
    return writes.stream().filter(Write::accepted).mapToLong(Write::token).max().orElse(0);
  }

  /** Returns how many were accepted. */
  public long accepted() {
    return writes.stream().filter(Write::accepted).count();
  }
}
