package io.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThatCode;

import org.junit.jupiter.api.Test;

class HeadStartTest {
  @Test
  void whateverFailsInIt_isNotTold() {
    assertThatCode(
            () ->
                HeadStart.runQuietly(
                    () -> {
                      throw new ExceptionInInitializerError("of a class");
                    }))
        .doesNotThrowAnyException();
  }
}
