package io.fenceline.redis.layout;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.spi.GrantNumbers;
import io.fenceline.testbed.server.RedisServer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each script counts by the clock as {@link GrantNumbers} does; names may move between stores. */
class NumberFormulaTest {
  private static final Pattern FORMULA =
      Pattern.compile("\\(clock\\[1\\][^\\n=]* / 1000(?=\\)|\\n)");
  private static final Pattern LARGEST = Pattern.compile("\\b3518\\d+\\b");
  private static final long[] MILLIS = {
    GrantNumbers.EPOCH_MILLIS + 1, 1_800_000_000_123L, 3_911_000_000_999L
  };

  private static RedisServer redis;

  @BeforeAll
  static void start() {
    redis = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    redis.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"number.lua", "batch-uncontended.lua", "claim-uncontended.lua"})
  void script_countsAsEveryStore(String file) {
    String script = Script.load(file);
    Matcher formula = FORMULA.matcher(script);
    assertThat(formula.find()).as("the formula of " + file).isTrue();
    for (long millis : MILLIS) {
      Object number =
          redis.command(
              "EVAL",
              "local clock = {ARGV[1], ARGV[2]} return string.format('%.0f', math.floor("
                  + formula.group()
                  + "))",
              "0",
              Long.toString(millis / 1_000),
              Long.toString(millis % 1_000 * 1_000));
      assertThat(number).isEqualTo(Long.toString(GrantNumbers.atMillis(millis)));
    }
    Matcher largest = LARGEST.matcher(script);
    while (largest.find()) {
      assertThat(largest.group()).isEqualTo(Long.toString(GrantNumbers.MAX));
    }
  }
}
