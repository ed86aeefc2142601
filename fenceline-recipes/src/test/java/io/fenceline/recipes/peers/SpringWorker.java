package io.fenceline.recipes.peers;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;

/**
 * A leader by Spring Integration, which asks whether it leads, and then writes.
 *
 * <p>Arguments: where Redis is, the file, what this one is called.
 */
final class SpringWorker {
  private static final Duration EXPIRY = Duration.ofSeconds(3);

  private SpringWorker() {}

  public static void main(String[] arguments) throws Exception {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    URI redis = URI.create(arguments[0]);
    LettuceConnectionFactory connections =
        new LettuceConnectionFactory(redis.getHost(), redis.getPort());
    connections.afterPropertiesSet();
    connections.start();
    CountDownLatch granted = new CountDownLatch(1);
    LockRegistryLeaderInitiator initiator =
        new LockRegistryLeaderInitiator(
            new RedisLockRegistry(connections, "spring", EXPIRY.toMillis()),
            new DefaultCandidate(arguments[2], "reports") {
              @Override
              public void onGranted(Context context) {
                granted.countDown();
              }
            });
    initiator.start();
    granted.await();
    if (initiator.getContext().isLeader()) {
      System.out.println("leads");
      in.readLine(); // Some work, or a pause of this process.
      Files.writeString(Path.of(arguments[1]), arguments[2]);
      System.out.println("wrote");
    }
    in.readLine();
    System.exit(0); // The driver's threads are of no interest.
  }
}
