package io.fenceline.cli.prepare;

import io.fenceline.cli.Main;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Does in one JVM what users do with the tool, so that this JVM can list the classes that they
 * need.
 *
 * <p>The arguments are what is trained, which is also the name of an archive, and a command that is
 * run under the first lock on SQLite. Where a store has no server here, most of its driver is
 * loaded by the attempt all the same; Redis, whose driver is the slowest to start, is answered by
 * {@link RedisActor}.
 */
public final class Training {
  private Training() {}

  /** Runs it. */
  public static void main(String[] args) throws IOException {
    String archive = args[0];
    if (!archive.equals("redis")) {
      List<String> first = new ArrayList<>(List.of("run", "prepare", "--"));
      first.addAll(List.of(args).subList(1, args.length));
      call(first.toArray(String[]::new));
      call("run", "prepare", "--lease", "20s", "-w", "5", "--", "true");
    }
    if (!archive.equals("sqlite")) {
      runOnRedis();
    }
    if (archive.equals("all")) {
      callAll();
    }
    System.exit(0);
  }

  private static void runOnRedis() throws IOException {
    try (RedisActor redis = RedisActor.start()) {
      String store = "redis://127.0.0.1:" + redis.port();
      call("run", "prepare", "--store", store, "--", "true");
      call("run", "prepare", "--store", store, "--lease", "20s", "-w", "5", "--", "true");
    }
  }

  private static void callAll() {
    call("run", "prepare", "--store", "memory:", "--", "true");
    call("once", "prepare", "--", "true");
    call("run", "prepare", "--help");
    call("ls");
    call("ls", "--json");
    call("show", "prepare");
    for (String store :
        List.of(
            "redis://127.0.0.1:1",
            "zookeeper://127.0.0.1:1",
            "etcd://127.0.0.1:1",
            "jdbc:postgresql://127.0.0.1:1/x",
            "jdbc:mariadb://127.0.0.1:1/x")) {
      call("run", "prepare", "--store", store, "--connect-timeout", "1s", "--", "true");
    }
  }

  private static void call(String... args) {
    int code = Main.call(args);
    System.err.println(String.join(" ", args) + ": " + code);
  }
}
