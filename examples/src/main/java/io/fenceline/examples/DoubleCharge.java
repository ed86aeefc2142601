package io.fenceline.examples;

import io.fenceline.testbed.process.JavaProcess;
import java.io.IOException;
import java.io.PrintStream;
import java.sql.SQLException;
import java.time.Duration;

/** How is a customer charged twice, and what keeps that from happening? */
public final class DoubleCharge {
  static final Duration LEASE = Duration.ofSeconds(2);

  private static final Duration AMPLE = Duration.ofMinutes(2);

  private final Orders orders;
  private final JavaProcess serviceA;
  private final JavaProcess serviceB;
  private final PrintStream out;

  private DoubleCharge(Orders orders, JavaProcess a, JavaProcess b, PrintStream out) {
    this.orders = orders;
    this.serviceA = a;
    this.serviceB = b;
    this.out = out;
  }

  /** Runs it. */
  public static void main(String[] arguments) throws IOException, SQLException {
    run(System.out);
  }

  static void run(PrintStream out) throws IOException, SQLException {
    try (Scratch scratch = Scratch.create();
        Orders orders = Orders.open(scratch.data())) {
      orders.create();
      try (JavaProcess a = service(scratch);
          JavaProcess b = service(scratch)) {
        a.expect("ready", AMPLE);
        b.expect("ready", AMPLE);
        out.println("A request to pay order 12345 is delivered to two instances.");
        DoubleCharge example = new DoubleCharge(orders, a, b, out);
        example.bothAtOnce("Without a lock:", "pay");
        example.oneAfterTheOther("With the lock:", "pay with the lock");
        example.paused("With the lock, A is paused:", "pay with the lock");
        example.paused("With lock and fence, A is paused:", "pay with lock and fence");
      }
    }
  }

  private static JavaProcess service(Scratch scratch) {
    return JavaProcess.of(PaymentService.class)
        .argument(scratch.locks())
        .argument(scratch.data())
        .jvmOption("-Dorg.slf4j.simpleLogger.defaultLogLevel=error")
        .heap(48)
        .start();
  }

  private void bothAtOnce(String title, String request) throws SQLException {
    orders.reset();
    serviceA.send(request + ", slowly");
    serviceA.expect("sees pending", AMPLE);
    serviceB.send(request + ", slowly");
    serviceB.expect("sees pending", AMPLE);
    serviceA.send("go on");
    serviceB.send("go on");
    serviceA.expect("charged", AMPLE);
    serviceB.expect("charged", AMPLE);
    report(title, "");
  }

  private void oneAfterTheOther(String title, String request) throws SQLException {
    orders.reset();
    serviceA.send(request);
    serviceB.send(request);
    serviceA.expect("sees", AMPLE);
    serviceB.expect("sees", AMPLE);
    serviceA.expect("", AMPLE);
    serviceB.expect("", AMPLE);
    report(title, "");
  }

  private void paused(String title, String request) throws SQLException {
    orders.reset();
    serviceA.send(request + ", slowly");
    serviceA.expect("sees pending", AMPLE);
    serviceA.pause();
    serviceB.send(request);
    serviceB.expect("charged", AMPLE);
    serviceA.resume();
    serviceA.send("go on");
    report(title, " A: " + serviceA.expect("", AMPLE) + ".");
  }

  private void report(String title, String more) throws SQLException {
    out.printf("%-34s %d charge(s).%s%n", title, orders.charges(), more);
  }
}
