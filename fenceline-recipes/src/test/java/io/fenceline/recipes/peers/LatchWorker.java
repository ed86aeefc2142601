package io.fenceline.recipes.peers;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.retry.RetryOneTime;

/**
 * A leader by Curator's latch, which asks whether it leads, and then writes.
 *
 * <p>Arguments: where ZooKeeper is, the file, what this one is called.
 */
final class LatchWorker {
  private static final int SESSION_MILLIS = 3_000;

  private LatchWorker() {}

  public static void main(String[] arguments) throws Exception {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    CuratorFramework curator =
        CuratorFrameworkFactory.newClient(
            arguments[0], SESSION_MILLIS, SESSION_MILLIS, new RetryOneTime(100));
    curator.start();
    try (LeaderLatch latch = new LeaderLatch(curator, "/latch", arguments[2])) {
      latch.start();
      latch.await();
      if (latch.hasLeadership()) {
        System.out.println("leads");
        in.readLine(); // Some work, or a pause of this process.
        Files.writeString(Path.of(arguments[1]), arguments[2]);
        System.out.println("wrote");
        in.readLine();
      }
    }
  }
}
