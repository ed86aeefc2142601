package io.fenceline.examples.springshop;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.testbed.server.PostgresServer;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The one command of this example prints what its page shows. */
class StoryTest {
  private static final String PRINTED =
      """
      10 customers at two instances want to buy; there are 5 books.
      Without a lock:  10 sold of 5: oversold.
      With @Locked:     5 sold of 5.
      An order is charged by two requests at once.
      Without a lock:  charged 2 times.
      With @Locked:    charged 1 times.
      The nightly job ran in 1 of two instances.
      """;

  private static String told(String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-cp");
    command.add(
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
    command.add(Story.class.getName());
    command.addAll(List.of(arguments));
    Process story = new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
    String printed = new String(story.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(story.waitFor(60, TimeUnit.SECONDS)).isTrue();
    return printed;
  }

  @Test
  @Timeout(300)
  void story_isToldAsThePageShowsIt() throws Exception {
    assertThat(told()).isEqualTo(PRINTED);
  }

  @Test
  @Tag("long")
  @Timeout(300)
  void story_isTheSameOnPostgreSql() throws Exception {
    try (PostgresServer postgres = PostgresServer.start()) {
      assertThat(
              told(
                  "--spring.datasource.url=" + postgres.jdbcUrl(),
                  "--spring.datasource.username=" + postgres.user(),
                  "--spring.datasource.password=" + postgres.password(),
                  "--fenceline.store=datasource"))
          .isEqualTo(PRINTED);
    }
  }
}
