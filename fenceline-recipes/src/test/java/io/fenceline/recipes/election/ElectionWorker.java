package io.fenceline.recipes.election;

import io.fenceline.Fenceline;
import io.fenceline.StaleTokenException;
import io.fenceline.fence.FencedFile;
import io.fenceline.testkit.scenario.StallDetector;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * A candidate in a process of its own, which writes to a fenced file while it leads, and tells what
 * it believes. Times are of the monotonic clock, which the processes of a machine share.
 *
 * <p>Prints {@code begin TERM nanos}, {@code valid TERM nanos} for the last moment at which it
 * believed to lead, {@code wrote TERM before after}, {@code refused TERM}, {@code end TERM nanos}
 * when the callback returns, {@code closing nanos} when it was told to close, and {@code stalled
 * millis nanos} when it had not run for so long, before it tells of anything that came later.
 *
 * <p>Arguments: where the locks are, the lease in milliseconds, the file.
 */
final class ElectionWorker {
  private static final Duration STEP = Duration.ofMillis(50);
  private static final Duration LOOK = Duration.ofMillis(20);

  /** How long the callback takes to return after it was told: nobody may begin meanwhile. */
  private static final Duration TIDYING = Duration.ofMillis(200);

  private static long looked = System.nanoTime();

  private ElectionWorker() {}

  public static void main(String[] arguments) throws Exception {
    Thread looking = new Thread(ElectionWorker::look);
    looking.setDaemon(true);
    looking.start();
    Duration lease = Duration.ofMillis(Long.parseLong(arguments[1]));
    FencedFile file = FencedFile.at(Path.of(arguments[2]));
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (Fenceline client = Fenceline.connect(arguments[0]);
        Candidate candidate =
            Election.of(client, "reports")
                .lease(lease)
                .campaign(leadership -> lead(leadership, file))) {
      System.out.println("ready");
      in.readLine();
      tellStall();
      System.out.println("closing " + System.nanoTime());
    }
    System.out.println("closed");
  }

  private static void look() {
    while (true) {
      LockSupport.parkNanos(LOOK.toNanos());
      tellStall();
    }
  }

  private static synchronized void tellStall() {
    long now = System.nanoTime();
    long stalled = StallDetector.ofThisJvm().longestSince(looked).toMillis();
    looked = now;
    if (stalled > 0) {
      System.out.println("stalled " + stalled + " " + now);
    }
  }

  private static void lead(Leadership leadership, FencedFile file) {
    tellStall();
    System.out.println("begin " + leadership.term() + " " + System.nanoTime());
    boolean ended = false;
    while (!ended) {
      long looked = System.nanoTime();
      if (leadership.isValid()) {
        System.out.println("valid " + leadership.term() + " " + looked);
      }
      // Whether it is valid or not: a process that stands still right here would write, too.
      write(leadership, file);
      try {
        ended = leadership.awaitEnd(STEP);
      } catch (InterruptedException e) {
        ended = true;
      }
    }
    long tidied = System.nanoTime() + TIDYING.toNanos();
    for (long left = TIDYING.toNanos(); left > 0; left = tidied - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
    write(leadership, file);
    System.out.println("end " + leadership.term() + " " + System.nanoTime());
  }

  private static void write(Leadership leadership, FencedFile file) {
    try {
      tryToWrite(leadership, file);
    } catch (UncheckedIOException e) {
      // The interrupt of the loss ends a write to a file. This one wants to know what the fence
      // says.
      boolean unused = Thread.interrupted();
      tryToWrite(leadership, file);
    }
  }

  private static void tryToWrite(Leadership leadership, FencedFile file) {
    long before = System.nanoTime();
    try {
      file.replace(
          Long.toString(leadership.term()).getBytes(StandardCharsets.UTF_8),
          leadership.fencingToken());
      System.out.println("wrote " + leadership.term() + " " + before + " " + System.nanoTime());
    } catch (StaleTokenException e) {
      System.out.println("refused " + leadership.term());
    }
  }
}
