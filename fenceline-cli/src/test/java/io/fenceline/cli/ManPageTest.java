package io.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** The man page is written by hand, and knows everything that the tool knows. */
class ManPageTest {
  @Test
  void everySubcommandAndOptionIsThere() throws Exception {
    String page = Files.readString(Path.of("src/main/man/fenceline.1")).replace("\\-", "-");
    for (CommandLine line : RootCommand.tree().getSubcommands().values()) {
      assertThat(page).contains("fenceline " + line.getCommandName());
      for (OptionSpec option : line.getCommandSpec().options()) {
        for (String name : option.names()) {
          assertThat(page).as(line.getCommandName()).containsPattern("[^-a-z]" + name + "[^-a-z]");
        }
      }
    }
  }

  /** Picocli puts "null" in the place of each {@code ${variable}} that it does not know. */
  @Test
  void helpOfHold_showsItsExampleOfBash() {
    String help = RootCommand.tree().getSubcommands().get("hold").getUsageMessage();

    assertThat(help).contains("read -r token <&\"${LOCK[0]}\" || exit").doesNotContain("null");
  }
}
