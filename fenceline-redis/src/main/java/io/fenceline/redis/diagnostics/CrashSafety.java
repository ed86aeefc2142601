package io.fenceline.redis.diagnostics;

import io.fenceline.diagnosis.Certainty;
import io.fenceline.diagnosis.Guarantees;
import io.fenceline.redis.connection.Connecting;
import io.fenceline.redis.connection.Connection;
import io.fenceline.redis.connection.Topology;
import io.fenceline.spi.StoreContext;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Whether servers keep the locks that they have granted, as they are set now: across a restart, and
 * when their memory gets short.
 */
public final class CrashSafety {
  /** What can be said before anybody has asked. */
  public static final String BY_ITS_SETTINGS =
      "a restart forgets what was not persisted (all of it without an append-only file, up to a second"
          + " with appendfsync everysec, nothing with always), and an eviction policy may take locks";

  private CrashSafety() {}

  /**
   * Asks all servers, and gives what is promised of them.
   *
   * @param topologies one, or that of each independent server
   */
  public static Guarantees of(
      Guarantees usual, List<Topology> topologies, StoreContext context, String description) {
    Map<String, String> infos =
        ask(topologies, "INFO", commands -> commands.info(), context, description);
    List<String> silent = topologies.stream().flatMap(each -> each.unreachable().stream()).toList();
    Guarantees found = of(usual, infos, Map.of(), silent);
    if (found.durable() == Certainty.NO || infos.isEmpty()) {
      // It would change nothing, and a user who may not read settings should not try in vain.
      return found;
    }
    return of(
        usual,
        infos,
        ask(
            topologies,
            "CONFIG GET",
            commands -> commands.configGet("appendfsync"),
            context,
            description),
        silent);
  }

  private static <T> Map<String, T> ask(
      List<Topology> topologies,
      String what,
      Connection.Request<T> request,
      StoreContext context,
      String description) {
    List<CompletableFuture<Map<String, T>>> answers = new ArrayList<>();
    for (Topology topology : topologies) {
      answers.add(topology.atEach(what, request).exceptionally(failure -> Map.of()));
    }
    Map<String, T> all = new HashMap<>();
    answers.forEach(answer -> all.putAll(Connecting.await(answer, context, description)));
    return all;
  }

  /**
   * Judges what servers say.
   *
   * @param infos what INFO gave for each server; empty where it failed
   * @param flushes the same of CONFIG GET appendfsync
   * @param silent servers that could not be asked
   */
  private static Guarantees of(
      Guarantees usual,
      Map<String, String> infos,
      Map<String, Map<String, String>> flushes,
      List<String> silent) {
    List<String> reasons = new ArrayList<>();
    List<String> doubts = new ArrayList<>();
    infos.forEach(
        (server, text) -> {
          Map<String, String> info = fields(text);
          if (evicts(info)) {
            reasons.add(server + " evicts by " + info.get("maxmemory_policy"));
          }
          String appends = info.get("aof_enabled");
          String flush = flushes.getOrDefault(server, Map.of()).get("appendfsync");
          if ("0".equals(appends)) {
            reasons.add(server + " keeps no append-only file");
          } else if (flush != null && !flush.equals("always")) {
            reasons.add(server + " has appendfsync " + flush);
          } else if (appends == null || flush == null) {
            doubts.add(server + " does not let this user read appendfsync");
          }
        });
    silent.forEach(server -> doubts.add(server + " could not be asked"));
    if (infos.isEmpty()) {
      doubts.add("this user may not run INFO");
    }
    if (!reasons.isEmpty()) {
      return usual.durable(Certainty.NO, String.join(", ", reasons));
    }
    return doubts.isEmpty()
        ? usual.durable(
            Certainty.YES, "each grant is in the append-only file before it is answered")
        : usual.durable(Certainty.UNKNOWN, String.join(", ", doubts));
  }

  /** Locks have an expiry, so that every policy but one may take them. */
  static boolean evicts(Map<String, String> info) {
    return !"0".equals(info.get("maxmemory"))
        && !"noeviction".equals(info.getOrDefault("maxmemory_policy", "noeviction"));
  }

  static Map<String, String> fields(String info) {
    Map<String, String> fields = new HashMap<>();
    info.lines()
        .filter(line -> line.indexOf(':') > 0)
        .forEach(
            line ->
                fields.put(
                    line.substring(0, line.indexOf(':')),
                    line.substring(line.indexOf(':') + 1).strip()));
    return fields;
  }
}
