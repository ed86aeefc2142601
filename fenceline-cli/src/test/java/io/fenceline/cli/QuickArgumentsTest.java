package io.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.cli.options.LockModeOptions;
import io.fenceline.cli.options.StoreOptions;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** What {@code fenceline run} reads by itself is what picocli reads. */
class QuickArgumentsTest {
  private static final Map<String, String> VALUES =
      Map.of(
          "kill|term|warn",
          "warn",
          "K/N",
          "1/3",
          "URI",
          "memory:",
          "LINE",
          "true",
          "CODE",
          "9",
          "TEXT",
          "x");

  @Test
  void everyOption_isReadAlike_orLeftToPicocli() throws Exception {
    int quick = 0;
    for (OptionSpec option : Subcommands.line("run", new RunCommand()).getCommandSpec().options()) {
      if (option.usageHelp()) {
        continue;
      }
      for (String name : option.names()) {
        List<List<String>> forms = new ArrayList<>();
        if (option.arity().max() == 0) {
          forms.add(List.of("a", name, "b"));
        } else {
          String value = VALUES.getOrDefault(option.paramLabel(), "1.5");
          forms.add(List.of("a", name, value, "b"));
          if (name.startsWith("--")) {
            forms.add(List.of(name + "=" + value, "a", "b"));
          }
        }
        for (List<String> args : forms) {
          RunCommand own = new RunCommand();
          if (own.readQuickly(args)) {
            quick++;
            RunCommand picoclis = new RunCommand();
            Subcommands.line("run", picoclis).parseArgs(args.toArray(String[]::new));
            assertThat(state(own)).as(args.toString()).isEqualTo(state(picoclis));
          }
        }
      }
    }
    assertThat(quick).isGreaterThan(35);
  }

  @Test
  void whatIsNotPlain_isLeftToPicocli() {
    for (String arg : List.of("-nx", "--nope", "-w1", "--lease=", "--nonblock=x", "--help")) {
      assertThat(new RunCommand().readQuickly(List.of("a", arg))).as(arg).isFalse();
    }
    assertThat(new RunCommand().readQuickly(List.of("a", "-w", "soon"))).isFalse();
    assertThat(new RunCommand().readQuickly(List.of("a", "-w"))).isFalse();
    assertThat(new RunCommand().readQuickly(List.of("a", "-w", "-n"))).isFalse();
  }

  @Test
  void whatPicocliCannotRead_isAnError() {
    CommandLine line = Subcommands.line("run", new RunCommand());
    assertThat(
            org.assertj.core.api.Assertions.catchThrowable(() -> line.parseArgs("a", "-w", "soon")))
        .hasMessageContaining("'soon' is not a duration");
  }

  /** All fields, inherited ones and those of the groups of options too. */
  private static Map<String, String> state(Object object) throws Exception {
    Map<String, String> state = new TreeMap<>();
    List<Field> fields = new ArrayList<>();
    for (Class<?> type = object.getClass(); type != Object.class; type = type.getSuperclass()) {
      fields.addAll(List.of(type.getDeclaredFields()));
    }
    for (Field field : fields) {
      if (java.lang.reflect.Modifier.isStatic(field.getModifiers())) {
        continue;
      }
      field.setAccessible(true);
      Object value = field.get(object);
      if (value instanceof StoreOptions
          || value instanceof LockModeOptions
          || value instanceof CommandOptions) {
        state(value).forEach((name, text) -> state.put(field.getName() + "." + name, text));
      } else if (!field.getName().equals("environment")) {
        state.put(field.getName(), String.valueOf(value));
      }
    }
    return state;
  }
}
