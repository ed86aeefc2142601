package io.fenceline.examples;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.StaleTokenException;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * A process that takes a lock, and writes when it is told to, whatever has become of the lock.
 *
 * <p>Arguments: where the locks are, the lease in milliseconds, where the resource is.
 */
final class Writer {
  private Writer() {}

  public static void main(String[] arguments) throws Exception {
    LockOptions options =
        LockOptions.defaults().lease(Duration.ofMillis(Long.parseLong(arguments[1])));
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (Fenceline client =
            Fenceline.builder().store(arguments[0]).defaultOptions(options).connect();
        Resource resource = Resource.open(arguments[2]);
        Hold hold = client.lock("ledger").acquire(Duration.ofMinutes(1))) {
      resource.writeFenced("fenced", "1 in time", hold.fencingToken());
      resource.writeOpen("open", "1 in time");
      System.out.println("token " + hold.token());
      in.readLine();
      System.out.println("valid " + hold.isValid());
      resource.writeOpen("open", "1 too late");
      System.out.println("open written");
      try {
        resource.writeFenced("fenced", "1 too late", hold.fencingToken());
        System.out.println("fenced written");
      } catch (StaleTokenException e) {
        System.out.println("fenced refused by " + e.accepted());
      }
    }
  }
}
