package io.fenceline.cli.options;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class StoreOptionsTest {
  private static Duration connectTimeout(StoreOptions options, String wait) {
    return options.connectTimeout(wait == null ? null : Duration.parse("PT" + wait));
  }

  @Test
  void whoWaitsForLong_givesAStoreLongToAnswer_unlessTheUserSaysHowLong() {
    StoreOptions options = new StoreOptions();
    assertThat(connectTimeout(options, null)).hasSeconds(10);
    assertThat(connectTimeout(options, "1S")).hasSeconds(10);
    assertThat(connectTimeout(options, "30S")).hasSeconds(30);
    assertThat(connectTimeout(options, "170S")).hasSeconds(60);

    QuickArguments args = new QuickArguments(List.of("--connect-timeout", "3s"));
    assertThat(args.nextOption() && options.read(args)).isTrue();
    assertThat(connectTimeout(options, "170S")).hasSeconds(3);
  }
}
