package io.fenceline.docs;

import java.util.ArrayList;
import java.util.List;

/** The commands of a block, and what it says that each prints. */
final class Commands {
  /**
   * A command.
   *
   * @param line as one types it
   * @param output what it prints, or null where the page does not say
   */
  record Command(String line, String output) {}

  private Commands() {}

  /** {@code sh}: lines to type. {@code console}: those after {@code $}, the others are printed. */
  static List<Command> of(Block block) {
    return block.language().equals("console") ? console(block.text()) : typed(block.text());
  }

  private static List<Command> typed(String text) {
    List<Command> commands = new ArrayList<>();
    StringBuilder open = new StringBuilder();
    for (String line : text.lines().toList()) {
      if (open.isEmpty() && (line.isBlank() || line.startsWith("#"))) {
        continue;
      }
      open.append(line).append('\n');
      if (!line.endsWith("\\")) {
        commands.add(new Command(open.toString().strip(), null));
        open.setLength(0);
      }
    }
    return commands;
  }

  static List<Command> console(String text) {
    List<Command> commands = new ArrayList<>();
    StringBuilder line = new StringBuilder();
    StringBuilder output = new StringBuilder();
    boolean continues = false;
    for (String next : text.lines().toList()) {
      if (continues) {
        line.append('\n').append(next.replaceFirst("^> ", ""));
      } else if (next.startsWith("$ ")) {
        if (!line.isEmpty()) {
          commands.add(new Command(line.toString(), output.toString()));
        }
        line.setLength(0);
        output.setLength(0);
        line.append(next.substring(2));
      } else {
        output.append(next).append('\n');
        continue;
      }
      continues = line.toString().endsWith("\\");
    }
    if (line.isEmpty()) {
      throw new AssertionError("no command after a '$'");
    }
    commands.add(new Command(line.toString(), output.toString()));
    return commands;
  }
}
