package io.fenceline.examples;

import io.fenceline.Fenceline;
import io.fenceline.FencingToken;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.StaleTokenException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * An instance of a payment service; told what to do by the lines of {@link DoubleCharge}.
 *
 * <p>Arguments: where the locks are, where the orders are.
 */
final class PaymentService {
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final Fenceline locks;
  private final Orders orders;
  private final BufferedReader requests;

  private PaymentService(Fenceline locks, Orders orders) {
    this.locks = locks;
    this.orders = orders;
    this.requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
  }

  public static void main(String[] arguments) throws Exception {
    try (Fenceline locks = Fenceline.connect(arguments[0]);
        Orders orders = Orders.open(arguments[1])) {
      System.out.println("ready");
      new PaymentService(locks, orders).serve();
    }
  }

  private void serve() throws IOException, SQLException, InterruptedException {
    for (String line = requests.readLine(); line != null; line = requests.readLine()) {
      boolean slowly = line.endsWith(", slowly");
      String request = line.replace(", slowly", "");
      switch (request) {
        case "pay" -> pay(null, slowly);
        case "pay with the lock" -> payWithTheLock(false, slowly);
        case "pay with lock and fence" -> payWithTheLock(true, slowly);
        default -> throw new IllegalArgumentException(line);
      }
    }
  }

  private void payWithTheLock(boolean fenced, boolean slowly)
      throws IOException, SQLException, InterruptedException {
    LockOptions options =
        LockOptions.defaults().lease(slowly ? DoubleCharge.LEASE : Duration.ofSeconds(30));
    try (Hold hold = locks.lock("order:12345", options).acquire(PATIENCE)) {
      pay(fenced ? hold.fencingToken() : null, slowly);
    }
  }

  private void pay(@Nullable FencingToken token, boolean slowly) throws IOException, SQLException {
    String status = orders.status();
    System.out.println("sees " + status);
    if (slowly) {
      requests.readLine(); // The bank takes its time, or this process does.
    }
    if (status.equals("paid")) {
      System.out.println("nothing to do");
      return;
    }
    try {
      orders.charge(token);
      System.out.println("charged");
    } catch (StaleTokenException e) {
      System.out.println("refused");
    }
  }
}
