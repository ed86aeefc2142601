package io.fenceline.cli.demo;

import java.util.ArrayList;
import java.util.List;

/**
 * Five items on a shelf, and a till. It believes what a seller says is left, as a database row does
 * that is read and written back; with a fence, it refuses a token below the largest that it has
 * seen.
 */
final class Shop {
  static final int ITEMS = 5;

  /** What came of an attempt to sell, by whom. */
  record Sale(String seller, boolean accepted, String note) {}

  private final boolean fenced;
  private final List<Sale> sales = new ArrayList<>();
  private int stock = ITEMS;
  private long largestToken;

  Shop(boolean fenced) {
    this.fenced = fenced;
  }

  /** How many are left. */
  synchronized int look() {
    return stock;
  }

  /** Writes back what is left after a sale; false if the fence refuses it. */
  synchronized boolean sell(String seller, int left, long token) {
    if (fenced && token < largestToken) {
      sales.add(new Sale(seller, false, "token " + token + " < " + largestToken));
      return false;
    }
    largestToken = Math.max(largestToken, token);
    stock = left;
    sales.add(new Sale(seller, true, ""));
    return true;
  }

  synchronized List<Sale> sales() {
    return List.copyOf(sales);
  }
}
