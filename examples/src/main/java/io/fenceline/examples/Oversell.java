package io.fenceline.examples;

import io.fenceline.testbed.process.JavaProcess;
import java.io.IOException;
import java.io.PrintStream;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Why is a lock in each process not enough, and a lock for all of them not either? */
public final class Oversell {
  static final Duration LEASE = Duration.ofSeconds(2);

  private static final int BUYERS = 10;
  private static final int ITEMS = 5;
  private static final Duration AMPLE = Duration.ofMinutes(2);

  private final Shop shop;
  private final List<JavaProcess> buyers;
  private final PrintStream out;

  private Oversell(Shop shop, List<JavaProcess> buyers, PrintStream out) {
    this.shop = shop;
    this.buyers = buyers;
    this.out = out;
  }

  /** Runs it. */
  public static void main(String[] arguments) throws IOException, SQLException {
    run(System.out);
  }

  static void run(PrintStream out) throws IOException, SQLException {
    List<JavaProcess> buyers = new ArrayList<>();
    try (Scratch scratch = Scratch.create();
        Shop shop = Shop.open(scratch.data())) {
      try {
        shop.create();
        for (int i = 1; i <= BUYERS; i++) {
          buyers.add(
              JavaProcess.of(Buyer.class)
                  .argument("buyer-" + i)
                  .argument(scratch.locks())
                  .argument(scratch.data())
                  .jvmOption("-Dorg.slf4j.simpleLogger.defaultLogLevel=error")
                  .heap(48)
                  .start());
        }
        buyers.forEach(buyer -> buyer.expect("ready", AMPLE));
        out.println(BUYERS + " processes want to buy; there are " + ITEMS + " items.");
        Oversell oversell = new Oversell(shop, buyers, out);
        oversell.allAtOnce("Without a lock:", "buy without a lock");
        oversell.allAtOnce("With synchronized:", "buy synchronized");
        oversell.oneByOne("With the lock:", "buy with the lock");
        oversell.pausedHolder("With the lock, one is paused:", "buy with the lock");
        oversell.pausedHolder("With lock and fence, one is paused:", "buy with lock and fence");
      } finally {
        buyers.forEach(JavaProcess::close);
      }
    }
  }

  /** All look before the first one buys. */
  private void allAtOnce(String title, String order) throws SQLException {
    shop.restock(ITEMS);
    buyers.forEach(buyer -> buyer.send(order));
    buyers.forEach(buyer -> buyer.expect("sees " + ITEMS, AMPLE));
    buyers.forEach(buyer -> buyer.send("go on"));
    buyers.forEach(buyer -> buyer.expect("bought", AMPLE));
    report(title, "");
  }

  /** All want to, and the lock lets one in at a time. */
  private void oneByOne(String title, String order) throws SQLException {
    shop.restock(ITEMS);
    buyers.forEach(buyer -> buyer.send(order));
    buyers.forEach(buyer -> buyer.expect("", AMPLE)); // sees …
    buyers.forEach(Oversell::verdict);
    report(title, "");
  }

  /** One has looked when its process stands still, for longer than its lease. */
  private void pausedHolder(String title, String order) throws SQLException {
    shop.restock(ITEMS);
    JavaProcess first = buyers.get(0);
    List<JavaProcess> others = buyers.subList(1, BUYERS);
    first.send(order + ", slowly");
    first.expect("sees " + ITEMS, AMPLE);
    first.pause();
    others.forEach(buyer -> buyer.send(order));
    others.forEach(buyer -> buyer.expect("sees", AMPLE));
    others.forEach(Oversell::verdict);
    first.resume();
    first.send("go on");
    report(title, " The paused one: " + verdict(first) + ".");
  }

  private static String verdict(JavaProcess buyer) {
    return buyer.expect("", AMPLE);
  }

  private void report(String title, String more) throws SQLException {
    int sold = shop.sold();
    out.printf(
        "%-36s %2d sold of %d%s%s%n", title, sold, ITEMS, sold > ITEMS ? ": oversold." : ".", more);
  }
}
