package io.fenceline.examples;

import com.zaxxer.hikari.HikariDataSource;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.recipes.once.Codec;
import io.fenceline.recipes.once.Once;
import io.fenceline.recipes.once.OnceRefusedException;
import io.fenceline.recipes.once.SqlRecords;
import io.fenceline.recipes.once.SqlWork;
import io.fenceline.recipes.once.Vanished;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Locale;

/**
 * A worker that pays an order; told what to do by the lines of {@link PaidOnce}.
 *
 * <p>Arguments: where the locks are, where the data is.
 */
final class PaymentWorker {
  private static final String KEY = "order-12345";
  private static final String REQUEST = "EUR 12.00";
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final Fenceline locks;
  private final Payments payments;
  private final SqlRecords records;
  private final BufferedReader requests =
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

  private PaymentWorker(Fenceline locks, Payments payments, SqlRecords records) {
    this.locks = locks;
    this.payments = payments;
    this.records = records;
  }

  public static void main(String[] arguments) throws Exception {
    try (Fenceline locks = Fenceline.connect(arguments[0]);
        Payments payments = Payments.open(arguments[1]);
        HikariDataSource data = new HikariDataSource()) {
      data.setJdbcUrl(arguments[1]);
      SqlRecords records = SqlRecords.over(data);
      records.createTable();
      System.out.println("ready");
      new PaymentWorker(locks, payments, records).serve();
    }
  }

  private void serve() throws Exception {
    for (String line = requests.readLine(); line != null; line = requests.readLine()) {
      String worker = line.substring(0, 1);
      String request = line.substring(3).replace(", slowly", "");
      boolean slowly = line.endsWith(", slowly");
      try {
        System.out.println("got " + work(request, worker, slowly));
      } catch (OnceRefusedException e) {
        String reason = e.reason().name().toLowerCase(Locale.ROOT).replace('_', ' ');
        System.out.println("got a refusal: " + reason);
      }
    }
  }

  private String work(String request, String worker, boolean slowly) throws Exception {
    return switch (request) {
      case "book under a lock" -> bookUnderALock(worker, slowly);
      case "book once" ->
          once(Vanished.RERUN)
              .call(
                  KEY,
                  REQUEST,
                  work -> {
                    pauseIf(slowly);
                    Payments.book(work.connection(), worker);
                    return "the receipt";
                  });
      case "charge, rerun" -> charge("", Vanished.RERUN, slowly);
      case "charge by key, rerun" -> charge(KEY, Vanished.RERUN, slowly);
      case "charge, in doubt" -> charge("", Vanished.IN_DOUBT, slowly);
      case "settle" -> settle();
      default -> throw new IllegalArgumentException(request);
    };
  }

  private String bookUnderALock(String worker, boolean slowly)
      throws InterruptedException, IOException, SQLException {
    LockOptions options = LockOptions.defaults().lease(PaidOnce.LEASE);
    try (Hold hold = locks.lock(KEY, options).acquire(PATIENCE)) {
      pauseIf(slowly);
      payments.book(worker);
      return "the receipt";
    }
  }

  private Once<SqlWork, String> once(Vanished vanished) {
    return Once.of(locks, "payments", records, Codec.text(), vanished)
        .lease(PaidOnce.LEASE)
        .waiting(PATIENCE);
  }

  private String charge(String keyForTheBank, Vanished vanished, boolean slowly) throws Exception {
    return once(vanished)
        .<Exception>call(
            KEY,
            REQUEST,
            work -> {
              work.effectBegins();
              payments.charge(keyForTheBank);
              pauseIf(slowly);
              return "the receipt";
            });
  }

  /** Somebody has asked the bank, and the card was charged. */
  private String settle() throws Exception {
    Once<SqlWork, String> once = once(Vanished.IN_DOUBT);
    once.settle(KEY, once.find(KEY).orElseThrow().token(), "the receipt of the bank");
    return charge("", Vanished.IN_DOUBT, false);
  }

  private void pauseIf(boolean slowly) throws IOException {
    if (slowly) {
      System.out.println("works");
      requests.readLine(); // The bank takes its time, or this process does.
    }
  }
}
