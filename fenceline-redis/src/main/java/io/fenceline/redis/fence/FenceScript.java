package io.fenceline.redis.fence;

import io.fenceline.redis.layout.Script;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * A script that begins with the check of a token.
 *
 * @param body its text
 * @param hash what Redis knows it by
 * @param isRepeatable whether it may be done twice; of a script that we did not write, nobody knows
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
public record FenceScript(byte[] body, byte[] hash, boolean isRepeatable) {
  public static final FenceScript CHECK = builtIn("fence-check.lua");
  public static final FenceScript SET = builtIn("fence-set.lua");
  public static final FenceScript HSET = builtIn("fence-hset.lua");
  public static final FenceScript DEL = builtIn("fence-del.lua");

  private static FenceScript builtIn(String file) {
    return of(Script.load(file), true);
  }

  public static FenceScript of(String text, boolean isRepeatable) {
    byte[] body = text.getBytes(StandardCharsets.UTF_8);
    byte[] hash = HexFormat.of().formatHex(Script.sha1(body)).getBytes(StandardCharsets.US_ASCII);
    return new FenceScript(body, hash, isRepeatable);
  }
}
