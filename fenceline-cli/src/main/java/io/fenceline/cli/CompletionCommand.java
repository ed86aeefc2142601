package io.fenceline.cli;

import io.fenceline.cli.failure.ExitCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Parameters;

/** {@code fenceline completion}: prints what a shell needs to complete the options. */
@Command(
    name = "completion",
    description = {
      "Prints a completion script for a shell.",
      "For example: fenceline completion bash > ~/.local/share/bash-completion/completions/fenceline"
    })
final class CompletionCommand implements Subcommand {
  enum Shell {
    BASH,
    ZSH,
    FISH
  }

  @Parameters(paramLabel = "bash|zsh|fish", description = "Which shell.")
  private Shell shell = Shell.BASH;

  @Override
  public int run() {
    CommandLine tree = RootCommand.tree();
    System.out.print(
        switch (shell) {
          case BASH -> AutoComplete.bash("fenceline", tree);
          case ZSH -> zsh(tree);
          case FISH -> fish(tree);
        });
    return ExitCode.OK;
  }

  /** zsh understands bash's way, once asked to. */
  private static String zsh(CommandLine tree) {
    return "#compdef fenceline\nautoload -U +X bashcompinit && bashcompinit\n"
        + AutoComplete.bash("fenceline", tree);
  }

  private static String fish(CommandLine tree) {
    List<String> lines = new ArrayList<>();
    lines.add("# fish completion for fenceline");
    lines.add("complete -c fenceline -n __fish_use_subcommand -f");
    for (Map.Entry<String, CommandLine> entry : tree.getSubcommands().entrySet()) {
      String[] description = entry.getValue().getCommandSpec().usageMessage().description();
      lines.add(
          "complete -c fenceline -n __fish_use_subcommand -a %s -d %s"
              .formatted(entry.getKey(), quoted(description[0])));
      for (OptionSpec option : entry.getValue().getCommandSpec().options()) {
        lines.add(fish(entry.getKey(), option));
      }
    }
    return String.join("\n", lines) + "\n";
  }

  private static String fish(String command, OptionSpec option) {
    StringBuilder line =
        new StringBuilder("complete -c fenceline -n '__fish_seen_subcommand_from " + command + "'");
    for (String name : option.names()) {
      line.append(name.startsWith("--") ? " -l " + name.substring(2) : " -s " + name.substring(1));
    }
    if (option.arity().max() > 0) {
      line.append(" -x");
    }
    return line + " -d " + quoted(String.join(" ", option.description()));
  }

  private static String quoted(String text) {
    return "'" + text.replace("%n", " ").replace("\\", "\\\\").replace("'", "\\'") + "'";
  }
}
