package io.fenceline.jdbc.layout;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * On which of PostgreSQL's channels a process hears that one of its claims is next.
 *
 * <p>Each process has its own, by what its claims say of it (host and process id), so that whoever
 * makes room finds it in the row of the claim. Processes that share one by chance hear of each
 * other's claims, whose ids they do not know.
 */
public final class Channels {
  private static final int LENGTH = 12;

  private Channels() {}

  /**
   * The channel of the process of a claim.
   *
   * @param client as {@link ClaimRow#encode} has it
   */
  public static String of(Tables tables, String client) {
    return tables.channel() + "_" + hash(ClaimRow.process(client));
  }

  /**
   * As above, in a file name.
   *
   * @param tables beside those of others in the same file
   */
  public static String inFileName(Tables tables, String client) {
    return hash(of(tables, client));
  }

  private static String hash(String text) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest, 0, LENGTH / 2);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
