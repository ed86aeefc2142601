package io.fenceline.examples.springshop;

import io.fenceline.spring.Locked;
import java.util.concurrent.locks.LockSupport;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.support.TransactionTemplate;

/** Stock, orders and charges, in tables. */
@Service
public class Shop {
  private static final int LOOKS = 500;
  private static final long PAUSE_NANOS = 20_000_000;

  private final JdbcTemplate jdbc;
  private final TransactionTemplate transaction;

  Shop(JdbcTemplate jdbc, TransactionTemplate transaction) {
    this.jdbc = jdbc;
    this.transaction = transaction;
  }

  /** Begins a story: so many items, nothing sold, nothing charged. */
  public void open(int items) {
    for (String table : new String[] {"stock", "sold", "charges", "looked"}) {
      jdbc.execute("CREATE TABLE IF NOT EXISTS " + table + " (id varchar(20), amount int)");
      jdbc.update("DELETE FROM " + table);
    }
    jdbc.update("INSERT INTO stock VALUES ('book', ?)", items);
  }

  /** Sells an item; the lock is the item's. */
  @Locked(name = "item:#{#item}", maxWait = "1m")
  public boolean buyLocked(String item) {
    return buy(item, 1);
  }

  /**
   * Sells an item, as if nobody else did.
   *
   * @param customers how many look at the shelf before anyone pays: the moment that goes wrong
   */
  public boolean buy(String item, int customers) {
    int left = count("SELECT amount FROM stock WHERE id = ?", item);
    if (left == 0) {
      return false;
    }
    othersLook("shelf", customers);
    transaction.executeWithoutResult(
        status -> {
          jdbc.update("UPDATE stock SET amount = ? WHERE id = ?", left - 1, item);
          jdbc.update("INSERT INTO sold VALUES (?, 1)", item);
        });
    return true;
  }

  /** Charges an order, once; the lock is the order's. */
  @Locked(name = "order:#{#order}", maxWait = "1m")
  public boolean chargeLocked(String order) {
    return charge(order, 1);
  }

  /** Charges an order unless it is charged, as if nobody else did. */
  public boolean charge(String order, int requests) {
    if (count("SELECT count(*) FROM charges WHERE id = ?", order) > 0) {
      return false;
    }
    othersLook("order", requests);
    jdbc.update("INSERT INTO charges VALUES (?, 12)", order);
    return true;
  }

  /** How many were sold, or how often an order was charged. */
  public int total(String table) {
    if (!table.equals("sold") && !table.equals("charges")) {
      throw new IllegalArgumentException(table);
    }
    return count("SELECT count(*) FROM " + table);
  }

  private int count(String query, Object... arguments) {
    Integer count = jdbc.queryForObject(query, Integer.class, arguments);
    return count == null ? 0 : count;
  }

  /** Waits, with a bound, until so many have looked, in both instances together. */
  private void othersLook(String at, int many) {
    jdbc.update("INSERT INTO looked VALUES (?, 1)", at);
    for (int i = 0;
        i < LOOKS && count("SELECT count(*) FROM looked WHERE id = ?", at) < many;
        i++) {
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }
}
