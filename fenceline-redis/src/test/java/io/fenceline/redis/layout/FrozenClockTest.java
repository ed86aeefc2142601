package io.fenceline.redis.layout;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.testbed.server.RedisServer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Redis 7.2 and later counts the time that a key has to live from the start of the script, while
 * TIME goes on. Here a server does so that has stood still for long after the start.
 */
class FrozenClockTest {
  private static final String FROZEN =
      """
      local real = redis
      local began = real.call('TIME')
      local start = began[1] * 1000 + math.floor(began[2] / 1000)
      local redis = {pcall = real.pcall, sha1hex = real.sha1hex, error_reply = real.error_reply}
      function redis.call(name, ...)
        local args = {...}
        if name == 'TIME' then
          local read = real.call('TIME')
          return {tostring(read[1] + 20), read[2]}
        end
        for i = 1, #args do
          if name == 'SET' and args[i] == 'PX' then
            args[i], args[i + 1] = 'PXAT', start + args[i + 1]
          end
        end
        return real.call(name, unpack(args))
      end
      """;
  private static final String LEASE = "60000";
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

  private static Object run(String before, Script script, List<String> keys, String... args) {
    List<String> words = new ArrayList<>();
    words.add("EVAL");
    words.add(before + new String(script.body(), StandardCharsets.US_ASCII));
    words.add(Integer.toString(keys.size()));
    words.addAll(keys);
    words.addAll(List.of(args));
    return redis.command(words.toArray(String[]::new));
  }

  private static Object claim(String before, String name, String owner) {
    return run(
        before,
        Script.CLAIM,
        keys(name),
        owner,
        "x",
        "1",
        "0",
        LEASE,
        "0",
        "pfl1:@nobody",
        "0",
        "0",
        "a\nb\n1");
  }

  private static void assertHeadLivesAsLongAsItsHolders(String name) {
    List<?> last = (List<?>) redis.command("ZRANGE", keys(name).get(2), "-1", "-1", "WITHSCORES");
    for (String key : keys(name).subList(0, 4)) {
      assertThat((Long) redis.command("PEXPIRETIME", key))
          .isGreaterThan(Long.parseLong(String.valueOf(last.get(1))));
    }
  }

  @Test
  void headOfATable_outlivesItsLastHolder_whoeverWritesIt() {
    Object number = claim("", "frozen", HOLDER);
    claim(FROZEN, "frozen", WAITER);
    assertHeadLivesAsLongAsItsHolders("frozen");

    List<String> keys = keys("frozen").subList(0, 4);
    Object renewed = run(FROZEN, Script.RENEW, keys, "4", HOLDER, "600000", String.valueOf(number));
    assertThat(renewed).isEqualTo(List.of(1L));
    assertHeadLivesAsLongAsItsHolders("frozen");
  }
}
