package io.fenceline.zookeeper;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** A process that takes a lock and answers whether it still has it: address, lease, name. */
final class Holder {
  private Holder() {}

  public static void main(String[] arguments) throws Exception {
    Duration lease = Duration.ofMillis(Long.parseLong(arguments[1]));
    try (Fenceline client =
            Fenceline.builder()
                .store(arguments[0])
                .defaultOptions(LockOptions.defaults().lease(lease))
                .connect();
        Hold hold = client.lock(arguments[2]).acquire(Duration.ofSeconds(60))) {
      hold.onLost(loss -> System.out.println("lost " + loss.reason()));
      System.out.println("acquired " + hold.token());
      BufferedReader commands =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      while (commands.readLine() != null) {
        System.out.println("valid " + hold.isValid());
      }
    }
  }
}
