package io.fenceline.cli.demo;

import io.fenceline.FencedLock;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One seller: looks how many items are left, takes its time, and writes back one less. It speaks
 * with the shop by lines: {@code look} is answered by a number, {@code sell LEFT TOKEN} by {@code
 * ok} or {@code refused}.
 */
public final class Seller {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final BufferedReader in =
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
  private final @Nullable String store;
  private final Duration lease;

  /**
   * A seller that locks the shop in this store before it looks; without a store it does not.
   *
   * @param lease of its lock
   */
  public Seller(@Nullable String store, Duration lease) {
    this.store = store;
    this.lease = lease;
  }

  /** Sells until nothing is left. */
  public void work() throws InterruptedException {
    ask("ready");
    if (store == null) {
      while (sellOne(0)) {
        // The next customer.
      }
      return;
    }
    try (Fenceline fenceline = Fenceline.connect(store)) {
      FencedLock lock = fenceline.lock("shop", LockOptions.defaults().lease(lease));
      boolean more = true;
      while (more) {
        try (Hold hold = lock.acquire(PATIENCE)) {
          more = sellOne(hold.token());
        }
      }
    }
  }

  private boolean sellOne(long token) {
    int stock = Integer.parseInt(ask("look"));
    if (stock == 0) {
      return false;
    }
    // The shop answers when the customer has paid; meanwhile others may sell, or this process may
    // be stopped.
    ask("think");
    return ask("sell " + (stock - 1) + " " + token).equals("ok");
  }

  private String ask(String question) {
    System.out.println(question);
    System.out.flush();
    try {
      String answer = in.readLine();
      if (answer != null) {
        return answer;
      }
    } catch (IOException e) {
      // As if the shop had closed.
    }
    throw new IllegalStateException("the shop is closed");
  }
}
