package io.fenceline.jdbc.fault;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Another process, which holds a lock and looks at it as often as it is told to. */
final class BrokenServerClient {
  private BrokenServerClient() {}

  public static void main(String[] arguments) throws Exception {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (Fenceline fenceline =
        Fenceline.builder()
            .store(arguments[0])
            .operationTimeout(Duration.ofSeconds(2))
            .defaultOptions(LockOptions.defaults().fixedLease(Duration.ofMinutes(10)))
            .connect()) {
      Hold hold = fenceline.lock(arguments[1]).tryAcquire().orElseThrow();
      fenceline.inspect(arguments[1]);
      System.out.println("ready");
      while (in.readLine() != null) {
        try {
          System.out.println("found " + fenceline.inspect(arguments[1]).holders().size());
        } catch (RuntimeException e) {
          System.out.println("failed " + String.valueOf(e).replace('\n', ' '));
        }
      }
      hold.release();
    }
  }
}
