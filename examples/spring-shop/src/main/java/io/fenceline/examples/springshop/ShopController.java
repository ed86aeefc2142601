package io.fenceline.examples.springshop;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The shop over HTTP. */
@RestController
public class ShopController {
  private final Shop shop;
  private final Nightly nightly;

  ShopController(Shop shop, Nightly nightly) {
    this.shop = shop;
    this.nightly = nightly;
  }

  /** Begins a story. */
  @PostMapping("/open")
  public void open(@RequestParam("items") int items) {
    shop.open(items);
  }

  /** Buys an item, with the lock unless so many customers look at once. */
  @PostMapping("/orders/{item}")
  public boolean buy(
      @PathVariable("item") String item,
      @RequestParam(name = "customers", defaultValue = "0") int customers) {
    return customers == 0 ? shop.buyLocked(item) : shop.buy(item, customers);
  }

  /** Charges an order, with the lock unless so many requests come at once. */
  @PostMapping("/charges/{order}")
  public boolean charge(
      @PathVariable("order") String order,
      @RequestParam(name = "requests", defaultValue = "0") int requests) {
    return requests == 0 ? shop.chargeLocked(order) : shop.charge(order, requests);
  }

  /** How many rows a table has. */
  @GetMapping("/totals/{table}")
  public int total(@PathVariable("table") String table) {
    return shop.total(table);
  }

  /** Runs the nightly job now, and tells whether it ran here. */
  @PostMapping("/nightly")
  public boolean nightly() {
    return nightly.report().isPresent();
  }
}
