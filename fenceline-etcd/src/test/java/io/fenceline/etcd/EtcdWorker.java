package io.fenceline.etcd;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Another process that holds a lock, and says what it believes. */
final class EtcdWorker {
  private EtcdWorker() {}

  @SuppressWarnings("MustBeClosedChecker") // released by command
  public static void main(String[] arguments) throws IOException, InterruptedException {
    try (Fenceline client = Fenceline.connect(arguments[0])) {
      LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(2));
      Hold hold = client.lock(arguments[1], options).acquire(Duration.ofSeconds(20));
      hold.lost().thenAccept(lost -> System.out.println("lost " + lost.reason()));
      System.out.println("token " + hold.token());
      BufferedReader commands =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = commands.readLine(); line != null; line = commands.readLine()) {
        if (line.equals("valid?")) {
          System.out.println("valid " + hold.isValid());
        } else {
          System.out.println("released " + hold.release());
        }
      }
    }
  }
}
