package io.fenceline.redis;

import io.fenceline.InvalidSettingException;
import io.fenceline.spi.StoreContext;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.CommandType;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a server must be able to do, asked of it when a store is opened. */
final class Admission {
  /** The oldest server: scripts may write after they have asked for the time, users have names. */
  static final int OLDEST_MAJOR = 6;

  private static final Pattern MAJOR = Pattern.compile("([0-9]+)\\..*");

  private Admission() {}

  /**
   * Asks all servers.
   *
   * @throws InvalidSettingException if one is too old, or in use by a newer version of Fenceline
   * @throws io.fenceline.StoreUnavailableException if one does not answer, or refuses what we need
   */
  static void check(Topology topology, Durability durability, StoreContext context, String store) {
    check(topology, false, durability, context, store);
  }

  /** As above; says whether the servers are the nodes of a Redlock. */
  static void check(
      Topology topology,
      boolean forRedlock,
      Durability durability,
      StoreContext context,
      String store) {
    Map<String, List<Object>> greetings = Connecting.await(greetings(topology), context, store);
    greetings.forEach((server, greeting) -> checkVersion(version(greeting), server));
    Call probe = new Call(Script.PROBE, new byte[][] {Layout.NEWER_FORMAT});
    List<Object> answer =
        Connecting.await(topology.call(Topology.Purpose.CLAIMS, 0, probe), context, store);
    String newer = Answers.text(answer.get(1));
    if (!newer.isEmpty()) {
      throw new InvalidSettingException(
          "Fenceline",
          "format 1",
          "this Redis is in use with format "
              + newer
              + ", which needs a newer version of Fenceline");
    }
    loadScripts(topology, forRedlock);
    if (!durability.isNone()) {
      Connecting.await(
          topology.atEach("WAIT", commands -> commands.waitForReplication(0, 1)), context, store);
    }
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
  static CompletableFuture<Map<String, List<Object>>> greetings(Topology topology) {
    return topology.atEach(
        "HELLO",
        commands ->
            commands.dispatch(CommandType.HELLO, new NestedMultiOutput<>(ByteArrayCodec.INSTANCE)));
  }

  static String version(List<Object> greeting) {
    for (int i = 0; i + 1 < greeting.size(); i += 2) {
      if (Answers.text(greeting.get(i)).equals("version")) {
        return Answers.text(greeting.get(i + 1));
      }
    }
    return "unknown";
  }

  /** Refuses a version that is too old; one that does not look like a version is let through. */
  static void checkVersion(String version, String store) {
    Matcher parts = MAJOR.matcher(version);
    if (parts.matches() && Integer.parseInt(parts.group(1)) < OLDEST_MAJOR) {
      throw new InvalidSettingException(
          "Redis version",
          version,
          "the oldest that works is " + OLDEST_MAJOR + ".0 (store=" + store + ")");
    }
  }
}
