package io.fenceline.redis;

import io.fenceline.redis.fence.FenceScript;
import io.fenceline.redis.layout.Script;
import io.fenceline.settings.InvalidSettingException;

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
  private final FenceScript script;

  private GuardedScript(FenceScript script) {
    this.script = script;
  }

  /**
   * Puts the fence before a script.
   *
   * @param lua the script, without a {@code #!} line
   */
  public static GuardedScript of(String lua) {
    if (lua.startsWith("#!")) {
      throw new InvalidSettingException(
          "script", "#!", "remove the #! line: a script that has one can't be guarded");
    }
    // Before the fence, so that the script sees nothing of it.
    return new GuardedScript(
        FenceScript.of(
            "local function guarded(KEYS, ARGV)\n"
                + lua
                + "\nend\n"
                + Script.load("fence.lua")
                + "return guarded({unpack(keys, 3)}, {unpack(args, 2)})\n",
            false));
  }

  FenceScript script() {
    return script;
  }
}
