package io.fenceline.redis.layout;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.redis.support.Clients;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** One key of a name was evicted, and the others were not. */
class EvictedKeyTest {
  /** Keeps the message instead of sending it. */
  private static final String KEPT =
      """
      local real = redis
      local redis = {call = real.call, sha1hex = real.sha1hex}
      function redis.pcall(_, _, message)
        return real.call('SET', 'told', message)
      end
      """;

  private static final long HAND_OVER = 2_000;
  private static final String HOLDER = "the-first-holder";
  private static final String WAITER = "the-only-waiter-";

  private static RedisServer redis;

  @BeforeAll
  static void start() {
    redis = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    redis.close();
  }

  private static List<String> keys(String name) {
    List<String> keys = new ArrayList<>();
    for (byte[] key : Layout.place(name).keys()) {
      keys.add(new String(key, StandardCharsets.UTF_8));
    }
    return keys;
  }

  private static Object run(Script script, List<String> keys, String... args) {
    List<String> words = new ArrayList<>();
    words.add("EVAL");
    words.add(KEPT + new String(script.body(), StandardCharsets.US_ASCII));
    words.add(Integer.toString(keys.size()));
    words.addAll(keys);
    words.addAll(List.of(args));
    return redis.command(words.toArray(String[]::new));
  }

  private static void claim(String name, String owner) {
    run(
        Script.CLAIM,
        keys(name),
        owner,
        "x",
        "1",
        "0",
        "60000",
        "0",
        "pfl1:@nobody",
        "0",
        "0",
        "a\nb\n1");
  }

  /** When the waiter last asked was kept with its deadline. */
  @Test
  void handOver_isToldToLastNoLongerThanItDoes_whereTheDeadlinesAreGone() {
    claim("evicted", HOLDER);
    claim("evicted", WAITER);
    redis.command("DEL", keys("evicted").get(2));

    run(Script.RELEASE, keys("evicted"), HOLDER, "0");

    String told = String.valueOf(redis.command("GET", "told"));
    assertThat(Long.parseLong(told.substring(told.indexOf(' ') + 1)))
        .isLessThanOrEqualTo(HAND_OVER);
  }

  private static Object tryPermit(String name, String owner, String lease) {
    return run(Script.CLAIM, keys(name), owner, "p", "1", "3", lease, "0", "", "0", "0", "a\nb\n1");
  }

  /** How many they had was kept with their records. */
  @Test
  void permitsOfHoldersWhoseRecordsAreGone_areFreeWhenTheirLeasesAreOver_thoughAnotherIsHeld() {
    tryPermit("counted", HOLDER, "100");
    tryPermit("counted", "the-second-one--", "200");
    redis.command("DEL", keys("counted").get(1));
    assertThat(tryPermit("counted", "the-third-one---", "60000")).isInstanceOf(Long.class);

    Eventually.until(
        Clients.AMPLE,
        "the permits of both",
        () ->
            tryPermit("counted", "the-fourth-one--", "60000") instanceof Long
                && tryPermit("counted", "the-fifth-one---", "60000") instanceof Long);

    assertThat(tryPermit("counted", "the-sixth-one---", "60000")).isInstanceOf(List.class);
  }
}
