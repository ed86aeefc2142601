package io.fenceline.redis;

import io.fenceline.settings.InvalidSettingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * A script that runs only if its caller's token passes the fence.
 *
 * <pre>{@code
 * GuardedScript decrement =
 *     GuardedScript.of("return redis.call('DECRBY', KEYS[1], ARGV[1])");
 * Long left = fence.eval(decrement, INTEGER, "stock:{42}", token, List.of("stock:{42}"), List.of("1"));
 * }</pre>
 *
 * <p>The script sees its own {@code KEYS} and {@code ARGV}. In a Cluster, its keys have to be in
 * the slot of the resource: give them the same hash tag. Immutable; keep it, since Redis knows a
 * script by its hash once it has seen it.
 */
public final class GuardedScript {
  static final GuardedScript CHECK = builtIn("fence-check.lua");
  static final GuardedScript SET = builtIn("fence-set.lua");
  static final GuardedScript HSET = builtIn("fence-hset.lua");
  static final GuardedScript DEL = builtIn("fence-del.lua");

  private final byte[] body;
  private final byte[] hash;

  private final boolean repeatable;

  private GuardedScript(String text, boolean repeatable) {
    this.repeatable = repeatable;
    this.body = text.getBytes(StandardCharsets.UTF_8);
    this.hash = HexFormat.of().formatHex(Script.sha1(body)).getBytes(StandardCharsets.US_ASCII);
  }

  private static GuardedScript builtIn(String file) {
    return new GuardedScript(Script.load(file), true);
  }

  /**
   * Puts the fence before a script.
   *
   * @param lua the script, without a {@code #!} line
   */
  public static GuardedScript of(String lua) {
    if (lua.startsWith("#!")) {
      throw new InvalidSettingException("script", "#!", "leave that line out: it can't be guarded");
    }
    // Before the fence, so that the script sees nothing of it.
    return new GuardedScript(
        "local function guarded(KEYS, ARGV)\n"
            + lua
            + "\nend\n"
            + Script.load("fence.lua")
            + "return guarded({unpack(keys, 3)}, {unpack(args, 2)})\n",
        false);
  }

  /** Whether it may be done twice; of a script that we did not write, nobody knows. */
  boolean isRepeatable() {
    return repeatable;
  }

  byte[] body() {
    return body;
  }

  byte[] hash() {
    return hash;
  }
}
