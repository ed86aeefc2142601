package io.fenceline.redis.diagnostics;

import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.redis.connection.Connecting;
import io.fenceline.redis.connection.ReplicaWait;
import io.fenceline.redis.connection.Topology;
import io.fenceline.redis.layout.Answers;
import io.fenceline.redis.layout.Call;
import io.fenceline.redis.layout.Layout;
import io.fenceline.redis.layout.Script;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.StoreContext;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.CommandType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a server must be able to do, asked of it when a store is opened. */
public final class ServerCheck {
  private static final Logger LOG = LoggerFactory.getLogger(ServerCheck.class);

  /** The oldest server: scripts may write after they have asked for the time, users have names. */
  static final int OLDEST_MAJOR = 6;

  private static final Pattern MAJOR = Pattern.compile("([0-9]+)\\..*");

  private ServerCheck() {}

  /**
   * Asks all servers that can be reached.
   *
   * @throws InvalidSettingException if one is too old, or in use by a newer version of Fenceline
   * @throws StoreUnavailableException if one does not answer
   * @throws StoreRefusedException if one refuses what we need
   */
  public static void check(
      Topology topology, ReplicaWait replicaWait, StoreContext context, String store) {
    check(topology, false, replicaWait, context, store);
  }

  /** As above; says whether the servers are the nodes of a Redlock. */
  public static void check(
      Topology topology,
      boolean forRedlock,
      ReplicaWait replicaWait,
      StoreContext context,
      String store) {
    Map<String, List<Object>> greetings = Connecting.await(greetings(topology), context, store);
    greetings.forEach((server, greeting) -> checkVersion(version(greeting), server));
    int bucket = topology.reachableBucket();
    if (bucket != 0) {
      LOG.warn("The format of {} can't be checked: its first bucket can't be reached", store);
    }
    List<Object> answer = probe(topology, bucket, context, store);
    String newer = Answers.text(answer.get(1));
    if (!newer.isEmpty()) {
      throw new InvalidSettingException(
          "Fenceline",
          "format 1",
          "this Redis is in use with format "
              + newer
              + ", which needs a newer version of Fenceline");
    }
    // Who knows the probe was told all by an earlier client: a short one need not say them again.
    if (forRedlock || topology.mayLackScripts()) {
      loadScripts(topology, forRedlock);
    }
    if (!replicaWait.isNone()) {
      Connecting.await(
          topology.atEach("WAIT", commands -> commands.waitForReplication(0, 1)), context, store);
    }
  }

  private static List<Object> probe(
      Topology topology, int bucket, StoreContext context, String store) {
    Call probe = new Call(Script.PROBE, new byte[][] {Layout.mark(bucket)});
    try {
      return Connecting.await(
          topology.call(Topology.Purpose.CLAIMS, bucket, probe), context, store);
    } catch (StoreUnavailableException | StoreRefusedException e) {
      // What a script may not run, Redis does not name.
      List<String> missing =
          Connecting.await(
              rights(topology, bucket).exceptionally(failure -> List.of()), context, store);
      if (missing.isEmpty()) {
        throw e;
      }
      throw new StoreRefusedException(
          "The user lacks rights: %s; grant what docs/redis.md lists (store=%s)"
              .formatted(String.join(", ", missing), store),
          e.getCause());
    }
  }

  /** The commands of scripts that the user may not run, and why. */
  static CompletableFuture<List<String>> rights(Topology topology, int bucket) {
    String client = "doctor";
    byte[] sharded =
        Layout.bytes(topology.mixesBuckets() ? "" : Layout.shardChannel(bucket, client));
    Call call =
        new Call(
            Script.RIGHTS,
            new byte[][] {Layout.scratch(bucket), Layout.counter(bucket)},
            Layout.bytes(Layout.channel(client)),
            sharded);
    return topology
        .call(Topology.Purpose.CLAIMS, bucket, call)
        .thenApply(missing -> missing.stream().map(Answers::text).toList());
  }

  /**
   * Makes sure that one server has all buckets.
   *
   * @throws StoreUnavailableException if not
   */
  public static void checkAllBuckets(Topology topology, StoreContext context, String store) {
    List<CompletableFuture<List<Object>>> answers = new ArrayList<>();
    for (int bucket = 0; bucket < Layout.BUCKETS; bucket++) {
      Call probe = new Call(Script.PROBE, new byte[][] {Layout.mark(bucket)});
      answers.add(topology.call(Topology.Purpose.CLAIMS, bucket, probe));
    }
    answers.forEach(answer -> Connecting.await(answer, context, store));
  }

  /**
   * Ahead of the first use, so that a burst of calls does not send each body many times. That it is
   * not allowed is no error: then the first calls carry the body.
   */
  static void loadScripts(Topology topology, boolean forRedlock) {
    for (Script script : Script.values()) {
      if (script.isForRedlock() == forRedlock) {
        topology
            .atEach("SCRIPT LOAD", commands -> commands.scriptLoad(script.body()))
            .exceptionally(failure -> Map.of());
      }
    }
  }

  /** What servers say of themselves; needs no permission. */
  public static CompletableFuture<Map<String, List<Object>>> greetings(Topology topology) {
    return topology.atEach(
        "HELLO",
        commands ->
            commands.dispatch(CommandType.HELLO, new NestedMultiOutput<>(ByteArrayCodec.INSTANCE)));
  }

  /** What the server calls itself, such as {@code redis 7.0.15} or {@code valkey 8.0.1}. */
  static String software(List<Object> greeting) {
    return said("server", greeting) + " " + version(greeting);
  }

  static String version(List<Object> greeting) {
    return said("version", greeting);
  }

  /** Whether a server is part of a Cluster, perhaps the only part. */
  public static boolean isOfCluster(List<Object> greeting) {
    return said("mode", greeting).equals("cluster");
  }

  private static String said(String field, List<Object> greeting) {
    for (int i = 0; i + 1 < greeting.size(); i += 2) {
      if (Answers.text(greeting.get(i)).equals(field)) {
        return Answers.text(greeting.get(i + 1));
      }
    }
    return "unknown";
  }

  /** Refuses a version that is too old; one that does not look like a version is let through. */
  public static void checkVersion(String version, String store) {
    Matcher parts = MAJOR.matcher(version);
    if (parts.matches() && Integer.parseInt(parts.group(1)) < OLDEST_MAJOR) {
      throw new InvalidSettingException(
          "Redis version",
          version,
          "Fenceline needs at least " + OLDEST_MAJOR + ".0 (store=" + store + ")");
    }
  }
}
