package io.fenceline.examples;

import io.fenceline.testbed.process.JavaProcess;
import java.io.IOException;
import java.io.PrintStream;
import java.sql.SQLException;
import java.time.Duration;

/** What becomes of a payment whose worker is paused, or dies after the charge? */
public final class PaidOnce {
  static final Duration LEASE = Duration.ofSeconds(2);

  private static final Duration AMPLE = Duration.ofMinutes(2);

  private final Scratch scratch;
  private final Payments payments;
  private final PrintStream out;

  private PaidOnce(Scratch scratch, Payments payments, PrintStream out) {
    this.scratch = scratch;
    this.payments = payments;
    this.out = out;
  }

  /** Runs it. */
  public static void main(String[] arguments) throws IOException, SQLException {
    run(System.out);
  }

  static void run(PrintStream out) throws IOException, SQLException {
    try (Scratch scratch = Scratch.create();
        Payments payments = Payments.open(scratch.data())) {
      payments.create();
      PaidOnce example = new PaidOnce(scratch, payments, out);
      out.println("A works on order-12345 and is paused; its lease ends, and B works on it.");
      example.paused("With a lock alone:", "book under a lock");
      example.paused("With Once:", "book once");
      out.println("A charges the card, and is killed before it has written the record.");
      example.killed("Rerun:", "charge, rerun");
      example.killed("Rerun, the bank takes our key:", "charge by key, rerun");
      example.killed("In doubt:", "charge, in doubt");
    }
  }

  private JavaProcess worker() {
    JavaProcess worker =
        JavaProcess.of(PaymentWorker.class)
            .argument(scratch.locks())
            .argument(scratch.data())
            .jvmOption("-Dorg.slf4j.simpleLogger.defaultLogLevel=error")
            .heap(48)
            .start();
    worker.expect("ready", AMPLE);
    return worker;
  }

  private void paused(String title, String request) throws SQLException {
    payments.reset();
    try (JavaProcess a = worker();
        JavaProcess b = worker()) {
      a.send("A: " + request + ", slowly");
      a.expect("works", AMPLE);
      a.pause();
      b.send("B: " + request);
      b.expect("got", AMPLE);
      a.resume();
      a.send("go on");
      String said = a.expect("got", AMPLE);
      out.printf(
          "%-32s %d booking(s), the receipt is %s's. A %s.%n",
          title, payments.bookings(), payments.receipt(), said);
    }
  }

  private void killed(String title, String request) throws SQLException {
    payments.reset();
    try (JavaProcess a = worker();
        JavaProcess b = worker()) {
      a.send("A: " + request + ", slowly");
      a.expect("works", AMPLE);
      a.kill();
      b.send("B: " + request);
      String said = b.expect("got", AMPLE);
      String settled = "";
      if (said.contains("doubt")) {
        b.send("B: settle");
        settled = " Settled, B " + b.expect("got", AMPLE) + ".";
      }
      out.printf("%-32s %d charge(s). B %s.%s%n", title, payments.charges(), said, settled);
    }
  }
}
