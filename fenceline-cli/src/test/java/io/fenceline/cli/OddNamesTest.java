package io.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** A name means itself to every command, whichever of the two parsers reads it. */
class OddNamesTest {
  @TempDir Path folder;

  private List<String> names() throws Exception {
    Path file = Files.writeString(folder.resolve("at.txt"), "from-the-file -c id");
    return List.of(
        "@" + file,
        "@@" + file,
        "@",
        " @" + file,
        " leading",
        "trailing ",
        "with  blanks",
        "",
        "'single'",
        "\"double\"",
        "\"open",
        "a\nb",
        "\n@" + file,
        "\u200fmarked",
        "\u202ereversed",
        "${sys:user.home}",
        "a=b",
        "a,b",
        "%41",
        "\\",
        "-");
  }

  /** What follows sends the arguments past the quick parser, or not. */
  private static final List<List<String>> OTHERS =
      List.of(List.of(), List.of("-w", "5"), List.of("--on-lost", "warn"), List.of("-E9"));

  @Test
  void runReadsThemAsTheyAre() throws Exception {
    int quick = 0;
    for (String name : names()) {
      for (List<String> others : OTHERS) {
        List<String> args = new ArrayList<>(others);
        args.add(name);
        RunCommand own = new RunCommand();
        if (own.readQuickly(args)) {
          quick++;
          assertThat(value(own, "names")).as("quickly: " + args).isEqualTo(List.of(name));
        }
        RunCommand picoclis = new RunCommand();
        Subcommands.line("run", picoclis).parseArgs(args.toArray(String[]::new));
        assertThat(value(picoclis, "names")).as("by picocli: " + args).isEqualTo(List.of(name));
      }
    }
    assertThat(quick).isGreaterThanOrEqualTo(2 * names().size());
  }

  @Test
  void theOthersReadThemAsTheyAre() throws Exception {
    for (String name : names()) {
      for (String command : List.of("show", "release", "ls", "watch")) {
        Subcommand subcommand = Subcommands.fresh(command);
        List<String> args = new ArrayList<>(List.of(name));
        if (command.equals("release")) {
          args.addAll(List.of("--token", "1"));
        }
        Subcommands.line(command, subcommand).parseArgs(args.toArray(String[]::new));
        String field = command.equals("ls") || command.equals("watch") ? "prefix" : "name";
        assertThat(value(subcommand, field)).as(command + " " + args).isEqualTo(name);
      }
    }
  }

  @Test
  void optionsMeanThemselvesToo() throws Exception {
    String file = "@" + Files.writeString(folder.resolve("at.txt"), "a b c");
    RunCommand run = new RunCommand();
    Subcommands.line("run", run).parseArgs("a", "-c", file, "--on-lost", "warn");
    assertThat(value(value(run, "options"), "line")).isEqualTo(file);
    assertThatThrownBy(() -> RootCommand.tree().parseArgs("--version", file))
        .hasMessageContaining(file);
  }

  @Test
  void whatBeginsLikeAnOption_isNeverAName() {
    for (String name : List.of("-x9", "-@", "--", "--name", "--@file", "-\n")) {
      assertThat(new RunCommand().readQuickly(List.of(name))).as(name).isFalse();
      if (!name.equals("--")) { // Main keeps it for itself.
        assertThatThrownBy(() -> Subcommands.line("run", new RunCommand()).parseArgs(name))
            .as(name)
            .isInstanceOf(CommandLine.ParameterException.class);
      }
    }
  }

  private static Object value(Object command, String name) throws Exception {
    Field field = command.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field.get(command);
  }
}
