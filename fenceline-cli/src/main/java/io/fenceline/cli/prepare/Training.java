package io.fenceline.cli.prepare;

import io.fenceline.cli.Main;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Does in one JVM what users do with the tool, so that this JVM can list the classes that they
 * need.
 *
 * <p>The arguments are a command that is run under the first lock. Where a store has no server
 * here, most of its driver is loaded by the attempt all the same; Redis, whose driver is the
 * slowest to start, is answered by {@link RedisActor}.
 */
public final class Training {
  private Training() {}

  /** Runs it. */
  public static void main(String[] command) throws IOException {
    List<String> first = new ArrayList<>(List.of("run", "prepare", "--"));
    first.addAll(List.of(command));
    call(first.toArray(String[]::new));
    call("run", "prepare", "--lease", "20s", "-w", "5", "--", "true");
    call("run", "prepare", "--store", "memory:", "--", "true");
    call("once", "prepare", "--", "true");
    call("run", "prepare", "--help");
    call("ls");
    call("ls", "--json");
    call("show", "prepare");
    try (RedisActor redis = RedisActor.start()) {
      call("run", "prepare", "--store", "redis://127.0.0.1:" + redis.port(), "--", "true");
    }
    for (String store :
        List.of(
            "redis://127.0.0.1:1",
            "zookeeper://127.0.0.1:1",
            "etcd://127.0.0.1:1",
            "jdbc:postgresql://127.0.0.1:1/x",
            "jdbc:mariadb://127.0.0.1:1/x")) {
      call("run", "prepare", "--store", store, "--connect-timeout", "1s", "--", "true");
    }
    System.exit(0);
  }

  private static void call(String... args) {
    int code = Main.call(args);
    System.err.println(String.join(" ", args) + ": " + code);
  }
}
