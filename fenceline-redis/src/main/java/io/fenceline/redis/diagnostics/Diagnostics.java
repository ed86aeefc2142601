package io.fenceline.redis.diagnostics;

import io.fenceline.diagnosis.Finding;
import io.fenceline.redis.connection.Failures;
import io.fenceline.redis.connection.ReplicaWait;
import io.fenceline.redis.connection.Topology;
import io.fenceline.redis.layout.Answers;
import io.fenceline.redis.layout.Call;
import io.fenceline.redis.layout.Layout;
import io.fenceline.redis.layout.Script;
import io.fenceline.settings.Durations;
import io.fenceline.time.Time;
import io.lettuce.core.ScriptOutputType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** Looks servers over for what puts locks at risk. Reads only; what it may not read, it says. */
public final class Diagnostics {
  private static final long MOST_OFFSET_MILLIS = 1_000;

  private final Topology topology;
  private final ReplicaWait replicaWait;
  private final Time time;

  public Diagnostics(Topology topology, ReplicaWait replicaWait, Time time) {
    this.topology = topology;
    this.replicaWait = replicaWait;
    this.time = time;
  }

  public CompletableFuture<List<Finding>> examine() {
    return ServerCheck.greetings(topology)
        .thenApply(this::versions)
        .thenCompose(findings -> add(findings, permissions()))
        .thenCompose(findings -> add(findings, clocks()))
        .thenCompose(findings -> add(findings, settings()));
  }

  private static CompletableFuture<List<Finding>> add(
      List<Finding> findings, CompletableFuture<List<Finding>> more) {
    return more.thenApply(
        found -> {
          findings.addAll(found);
          return findings;
        });
  }

  private List<Finding> versions(Map<String, List<Object>> greetings) {
    List<Finding> findings = new ArrayList<>();
    topology
        .unreachable()
        .forEach(
            server ->
                findings.add(
                    Finding.serious(
                        "shards",
                        "there is no connection to " + server,
                        "names in its slots can't be locked, and held ones are lost; others are not"
                            + " affected",
                        "start it, or let a replica take over")));
    greetings.forEach(
        (server, greeting) ->
            findings.add(
                Finding.ok(
                    "version",
                    server + " is " + ServerCheck.software(greeting),
                    "Fenceline needs at least " + ServerCheck.OLDEST_MAJOR + ".0")));
    return findings;
  }

  // Permissions. --------------------------------------------------------------------------------

  /** Tries what the scripts and the client need, in ways that change nothing. */
  private CompletableFuture<List<Finding>> permissions() {
    byte[] channel = Layout.bytes(Layout.channel("doctor"));
    int bucket = topology.reachableBucket();
    Map<String, CompletableFuture<?>> tried = new LinkedHashMap<>();
    tried.put(
        "EVALSHA, TIME, GET",
        topology.call(
            Topology.Purpose.CLAIMS,
            bucket,
            new Call(Script.PROBE, new byte[][] {Layout.mark(bucket)})));
    tried.put("EVAL", topology.atEach("EVAL", c -> c.eval("return 1", ScriptOutputType.INTEGER)));
    tried.put(
        "SCRIPT LOAD", topology.atEach("SCRIPT LOAD", c -> c.scriptLoad(Script.PROBE.body())));
    tried.put("PUBLISH", topology.atEach("PUBLISH", c -> c.publish(channel, new byte[0])));
    boolean sharded = topology.channel(bucket)[0] == 's';
    tried.put(sharded ? "SSUBSCRIBE" : "SUBSCRIBE", topology.listen(bucket));
    if (!topology.mixesBuckets()) {
      tried.put("ASKING", topology.tryAsking());
    }
    tried.put("SCAN", topology.atEach("SCAN", c -> c.scan()));
    tried.put("PING", topology.atEach("PING", c -> c.ping()));
    if (!replicaWait.isNone()) {
      tried.put("WAIT", topology.atEach("WAIT", c -> c.waitForReplication(0, 1)));
    }
    List<CompletableFuture<Finding>> findings = new ArrayList<>();
    findings.add(ofScripts(bucket));
    tried.forEach(
        (commands, answer) ->
            findings.add(
                answer
                    .thenApply(
                        done ->
                            Finding.ok("permissions", commands + " allowed", "locks can be kept"))
                    .exceptionally(
                        failure ->
                            commands.equals("SCRIPT LOAD")
                                ? Finding.note(
                                    "permissions",
                                    commands + " failed: " + message(failure),
                                    "the first calls carry the text of their scripts",
                                    "allow it to the user, see docs/redis.md")
                                : Finding.serious(
                                    "permissions",
                                    commands + " failed: " + message(failure),
                                    "locks, or some of what can be done with them, do not work",
                                    "allow them to the user, see docs/redis.md"))));
    return CompletableFuture.allOf(findings.toArray(CompletableFuture<?>[]::new))
        .thenApply(
            done -> new ArrayList<>(findings.stream().map(CompletableFuture::join).toList()));
  }

  private CompletableFuture<Finding> ofScripts(int bucket) {
    return ServerCheck.rights(topology, bucket)
        .thenApply(
            missing ->
                missing.isEmpty()
                    ? Finding.ok(
                        "permissions", "scripts may run all their commands", "locks can be kept")
                    : Finding.serious(
                        "permissions",
                        "scripts may not run " + String.join(", ", missing),
                        "locks, or some of what can be done with them, do not work",
                        "allow them to the user, see docs/redis.md"))
        .exceptionally(failure -> unreadable("permissions", "EVALSHA", failure));
  }

  private static String message(Throwable failure) {
    Throwable cause = Failures.unwrapped(failure);
    return cause == null ? "" : String.valueOf(cause.getMessage());
  }

  // Clocks. -------------------------------------------------------------------------------------

  private CompletableFuture<List<Finding>> clocks() {
    long before = time.wallMillis();
    return topology
        .atEach("TIME", commands -> commands.time())
        .thenApply(
            answers -> {
              long after = time.wallMillis();
              List<Finding> findings = new ArrayList<>();
              answers.forEach(
                  (server, parts) ->
                      findings.add(clock(server, millis(parts), (before + after) / 2)));
              return findings;
            })
        .exceptionally(failure -> List.of(unreadable("clock", "TIME", failure)));
  }

  public static long millis(List<byte[]> parts) {
    return Long.parseLong(Answers.text(parts.get(0))) * 1_000
        + Long.parseLong(Answers.text(parts.get(1))) / 1_000;
  }

  private static Finding clock(String server, long serverMillis, long ownMillis) {
    long ahead = serverMillis - ownMillis;
    String found =
        "the clock of "
            + server
            + " is "
            + Durations.show(Duration.ofMillis(Math.abs(ahead)))
            + (ahead < 0 ? " behind" : " ahead of")
            + " this machine's";
    if (Math.abs(ahead) <= MOST_OFFSET_MILLIS) {
      return Finding.ok("clock", found, "tokens go on rising if the data is lost");
    }
    return Finding.note(
        "clock",
        found,
        "leases are not affected, but if the data is lost, or a replica takes over whose clock is"
            + " behind, tokens may not rise",
        "run NTP on all machines");
  }

  // Settings, as INFO shows them. --------------------------------------------------------------

  private CompletableFuture<List<Finding>> settings() {
    return topology
        .atEach("INFO", commands -> commands.info())
        .thenApply(
            infos -> {
              List<Finding> findings = new ArrayList<>();
              infos.forEach((server, info) -> settings(server, CrashSafety.fields(info), findings));
              return findings;
            })
        .exceptionally(failure -> List.of(unreadable("settings", "INFO", failure)));
  }

  private void settings(String server, Map<String, String> info, List<Finding> findings) {
    findings.add(eviction(server, info));
    findings.add(persistence(server, info));
    findings.add(replicas(server, info));
  }

  private static Finding eviction(String server, Map<String, String> info) {
    String policy = info.getOrDefault("maxmemory_policy", "unknown");
    String found =
        server + " has maxmemory-policy " + policy + ", maxmemory " + info.get("maxmemory_human");
    if (!CrashSafety.evicts(info)) {
      return Finding.ok("eviction", found, "locks are not thrown out when memory is short");
    }
    return Finding.serious(
        "eviction",
        found,
        "when memory is short, locks are thrown out while they are held; volatile policies take them"
            + " first",
        "set maxmemory-policy noeviction, or give locks a server of their own");
  }

  private static Finding persistence(String server, Map<String, String> info) {
    if ("1".equals(info.get("aof_enabled"))) {
      return Finding.ok(
          "persistence",
          server + " keeps an append-only file",
          "locks survive a restart, up to the last second with appendfsync everysec");
    }
    return Finding.note(
        "persistence",
        server + " keeps no append-only file",
        "a restart forgets locks; holders learn of it at their next renewal, tokens still rise",
        "set appendonly yes, with appendfsync always if no lock may be lost");
  }

  private Finding replicas(String server, Map<String, String> info) {
    int connected = Integer.parseInt(info.getOrDefault("connected_slaves", "0"));
    String found =
        server + " has " + connected + " connected replicas, waits for " + replicaWait.replicas();
    if (connected < replicaWait.replicas()) {
      return Finding.serious(
          "replicas",
          found,
          "no lock can be acquired: too few replicas can acknowledge it",
          "connect the replicas, or lower wait");
    }
    if (replicaWait.isNone() && connected > 0) {
      return Finding.note(
          "replicas",
          found,
          "a failover may lose locks that the replica had not received yet",
          "set wait=1 if that is worth a round trip between the servers");
    }
    return Finding.ok("replicas", found, "as many as the setting asks for");
  }

  private static Finding unreadable(String check, String command, Throwable failure) {
    return Finding.note(
        check,
        command + " failed: " + message(failure),
        "it is unknown whether the server's settings are safe for locks",
        "allow " + command + " to the user, or check the settings yourself");
  }
}
