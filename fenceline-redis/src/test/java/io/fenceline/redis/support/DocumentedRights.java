package io.fenceline.redis.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.testbed.server.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The user that docs/redis.md describes: it has the rights that locks need, and no others. */
public final class DocumentedRights {
  public static final String PASSWORD = "canary-7f3a";
  static final String LOGIN = "locks:" + PASSWORD + "@";

  private DocumentedRights() {}

  public static String rule() {
    try {
      String page =
          Files.readString(Path.of(System.getProperty("user.dir"), "..", "docs", "redis.md"));
      Matcher rule = Pattern.compile("ACL SETUSER locks (on [^`]*?)\\n```").matcher(page);
      assertThat(rule.find()).isTrue();
      return rule.group(1).replaceAll("\\s*\\\\\\s*", " ").strip().replace("SECRET", PASSWORD);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The commands, as ACL rules name them. */
  public static List<String> commands() {
    return Arrays.stream(rule().split(" "))
        .filter(word -> word.startsWith("+"))
        .map(word -> word.substring(1))
        .toList();
  }

  /** Lets the user in, but without some words of the rule. */
  public static void grant(RedisServer server, String... without) {
    List<String> words = new ArrayList<>(List.of("ACL", "SETUSER", "locks", "reset"));
    Collections.addAll(words, rule().split(" "));
    words.removeAll(List.of(without));
    server.command(words.toArray(String[]::new));
  }

  public static String uri(String uri) {
    return uri.replaceFirst("://", "://" + LOGIN);
  }
}
