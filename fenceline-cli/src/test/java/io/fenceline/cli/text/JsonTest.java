package io.fenceline.cli.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class JsonTest {
  @Test
  void whatATerminalWouldObey_isEscaped() {
    assertThat(Json.line(Map.of("a\u0085", "b\u001b[1m\u009b31m\u202e\n\"\\\ud800c\ud83d\ude00")))
        .isEqualTo(
            "{\"a\\u0085\":\"b\\u001b[1m\\u009b31m\\u202e\\u000a\\\"\\\\\\ud800c\ud83d\ude00\"}");
  }
}
