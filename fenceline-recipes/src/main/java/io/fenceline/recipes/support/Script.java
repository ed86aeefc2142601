package io.fenceline.recipes.support;

import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** A script in Redis, which the server may know by its digest. */
public final class Script {
  private final byte[] text;
  private volatile @Nullable String digest;

  /** The script in a file of the package of a class. */
  public Script(Class<?> owner, String file) {
    text = Texts.read(owner, file).getBytes(StandardCharsets.UTF_8);
  }

  /** Runs it on one key, in one request if the server knows it. */
  @SuppressWarnings("TypeParameterUnusedInFormals") // As the driver has it.
  public <A> A run(
      RedisClusterCommands<byte[], byte[]> commands,
      ScriptOutputType type,
      byte[] key,
      byte[]... arguments) {
    byte[][] keys = {key};
    String known = digest;
    if (known == null) {
      known = commands.digest(text);
      digest = known;
    }
    try {
      return commands.evalsha(known, type, keys, arguments);
    } catch (RedisNoScriptException e) {
      return commands.eval(text, type, keys, arguments);
    }
  }
}
