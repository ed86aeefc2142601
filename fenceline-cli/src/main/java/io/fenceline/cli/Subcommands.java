package io.fenceline.cli;

import io.fenceline.cli.options.ChoiceArgument;
import io.fenceline.cli.options.DurationArgument;
import io.fenceline.cli.options.GlobalOptions;
import io.fenceline.cli.run.OnLost;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/** All that the tool can do, by name. */
final class Subcommands {
  /** In the order of the help. */
  static final List<String> NAMES =
      List.of(
          "run",
          "hold",
          "elect",
          "once",
          "ls",
          "show",
          "watch",
          "release",
          "doctor",
          "exporter",
          "stores",
          "demo",
          "completion");

  private Subcommands() {}

  static @Nullable Subcommand named(String name) {
    return switch (name) {
      case "run" -> new RunCommand();
      case "hold" -> new HoldCommand();
      case "elect" -> new ElectCommand();
      case "once" -> new OnceCommand();
      case "ls" -> new ListCommand();
      case "show" -> new ShowCommand();
      case "watch" -> new WatchCommand();
      case "release" -> new ReleaseCommand();
      case "doctor" -> new DoctorCommand();
      case "exporter" -> new ExporterCommand();
      case "demo" -> new DemoCommand();
      case "demo-seller" -> new DemoSellerCommand(); // For the demo only, and in no help.
      case "completion" -> new CompletionCommand();
      case "stores" -> new StoresCommand();
      default -> null;
    };
  }

  /** As {@link #named}, for a name that is known. */
  static Subcommand fresh(String name) {
    return Objects.requireNonNull(named(name), name);
  }

  /** Reads the options of one subcommand. */
  static CommandLine line(String name, Subcommand subcommand) {
    CommandLine line = new CommandLine(subcommand);
    // A word that begins with @ is a lock's name; picocli would read a file of that name.
    line.setExpandAtFiles(false);
    line.addMixin("global", new GlobalOptions());
    line.setCommandName("fenceline " + name);
    line.registerConverter(Duration.class, new DurationArgument());
    line.registerConverter(OnLost.class, new ChoiceArgument<>(OnLost.class));
    line.registerConverter(
        CompletionCommand.Shell.class, new ChoiceArgument<>(CompletionCommand.Shell.class));
    line.registerConverter(
        ElectCommand.Restart.class, new ChoiceArgument<>(ElectCommand.Restart.class));
    line.registerConverter(
        OnceCommand.InDoubt.class, new ChoiceArgument<>(OnceCommand.InDoubt.class));
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setUsageHelpWidth(100);
    return line;
  }
}
