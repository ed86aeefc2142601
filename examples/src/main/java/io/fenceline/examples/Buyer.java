package io.fenceline.examples;

import io.fenceline.FencedLock;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.StaleTokenException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;

/**
 * A process that buys what others want, too; told what to do by the lines of {@link Oversell}.
 *
 * <p>Arguments: a name, where the locks are, where the shop is.
 */
final class Buyer {
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final String name;
  private final Fenceline locks;
  private final Shop shop;
  private final BufferedReader orders;

  private Buyer(String name, Fenceline locks, Shop shop) {
    this.name = name;
    this.locks = locks;
    this.shop = shop;
    this.orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
  }

  public static void main(String[] arguments) throws Exception {
    try (Fenceline locks = Fenceline.connect(arguments[1]);
        Shop shop = Shop.open(arguments[2])) {
      System.out.println("ready");
      new Buyer(arguments[0], locks, shop).obey();
    }
  }

  private void obey() throws IOException, SQLException, InterruptedException {
    for (String order = orders.readLine(); order != null; order = orders.readLine()) {
      switch (order) {
        case "buy without a lock" -> buyWithoutALock();
        case "buy synchronized" -> buySynchronized();
        case "buy with the lock" -> buy(Duration.ofSeconds(30), false, false);
        case "buy with lock and fence" -> buy(Duration.ofSeconds(30), true, false);
        case "buy with the lock, slowly" -> buy(Oversell.LEASE, false, true);
        case "buy with lock and fence, slowly" -> buy(Oversell.LEASE, true, true);
        default -> throw new IllegalArgumentException(order);
      }
    }
  }

  private void buyWithoutALock() throws IOException, SQLException {
    int seen = look();
    orders.readLine(); // Whatever takes time between looking and buying.
    if (seen > 0) {
      shop.sell(name, seen, null);
    }
    System.out.println("bought");
  }

  /** Keeps the other threads of this process out, and no other process. */
  private synchronized void buySynchronized() throws IOException, SQLException {
    buyWithoutALock();
  }

  private void buy(Duration lease, boolean fenced, boolean slowly)
      throws IOException, SQLException, InterruptedException {
    FencedLock lock = locks.lock("stock", LockOptions.defaults().lease(lease));
    try (Hold hold = lock.acquire(PATIENCE)) {
      int seen = look();
      if (slowly) {
        orders.readLine();
      }
      if (seen == 0) {
        System.out.println("sold out");
        return;
      }
      shop.sell(name, seen, fenced ? hold.fencingToken() : null);
      System.out.println("bought");
    } catch (StaleTokenException e) {
      System.out.println("refused");
    }
  }

  private int look() throws SQLException {
    int seen = shop.itemsLeft();
    System.out.println("sees " + seen);
    return seen;
  }
}
