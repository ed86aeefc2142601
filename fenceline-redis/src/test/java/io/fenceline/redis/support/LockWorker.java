package io.fenceline.redis.support;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * A process that locks what it is told to.
 *
 * <p>Arguments: URI, name, lease in milliseconds. Lines: {@code acquire} asks for the lock without
 * blocking, {@code valid} asks whether it is held. Prints {@code acquired token}, {@code lost
 * token}, {@code valid true|false}.
 */
public final class LockWorker {
  private LockWorker() {}

  public static void main(String[] args) throws Exception {
    LockOptions options = LockOptions.defaults().lease(Duration.ofMillis(Long.parseLong(args[2])));
    try (Fenceline client =
        Fenceline.builder().store(args[0]).label("worker").defaultOptions(options).connect()) {
      BufferedReader in =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      Hold[] held = new Hold[1];
      System.out.println("ready");
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.equals("acquire")) {
          client
              .lock(args[1])
              .acquireAsync(Duration.ofMinutes(5))
              .thenAccept(
                  hold -> {
                    held[0] = hold;
                    hold.onLost(lost -> System.out.println("lost " + lost.token()));
                    System.out.println("acquired " + hold.token());
                  });
        } else if (line.equals("valid")) {
          System.out.println("valid " + held[0].isValid());
        }
      }
    }
  }
}
