package io.fenceline.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.FencelineBuilder;
import io.fenceline.LockOptions;
import io.fenceline.settings.Defaults;
import io.fenceline.settings.Durations;
import io.fenceline.settings.WaitStrategy;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** That the pages of settings and of exceptions name all of them, with the defaults of the code. */
class SettingsPageTest {
  private static final Pattern ROW = Pattern.compile("(?m)^\\| `(\\w+)` \\| ([^|]*) \\|");

  private static Map<String, String> table(String page, String marker) throws IOException {
    String text = Files.readString(Repository.ROOT.resolve("docs").resolve(page));
    int start = text.indexOf("<!-- " + marker + " -->");
    assertThat(start).as(marker).isNotNegative();
    int end = text.indexOf("\n\n", start);
    Matcher rows = ROW.matcher(text.substring(start, end < 0 ? text.length() : end));
    Map<String, String> found = new TreeMap<>();
    while (rows.find()) {
      found.put(rows.group(1), rows.group(2).strip());
    }
    return found;
  }

  /** The methods of a type that set something. */
  private static Set<String> setters(Class<?> type) {
    return Arrays.stream(type.getMethods())
        .filter(method -> method.getReturnType() == type)
        .filter(method -> !Modifier.isStatic(method.getModifiers()))
        .map(Method::getName)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @ParameterizedTest
  @ValueSource(strings = {"settings.md", "settings.zh-TW.md"})
  void settingsOfAClient(String page) throws IOException {
    Map<String, String> table = table(page, "client settings");
    assertThat(table.keySet()).isEqualTo(setters(FencelineBuilder.class));
    assertThat(table)
        .containsEntry("connectTimeout", Durations.show(Defaults.CONNECT_TIMEOUT))
        .containsEntry("operationTimeout", Durations.show(Defaults.OPERATION_TIMEOUT))
        .containsEntry(
            "limits",
            "%d waiters a name, %d holds, %d undos"
                .formatted(
                    Defaults.LIMITS.waitersPerName(),
                    Defaults.LIMITS.holds(),
                    Defaults.LIMITS.pendingUndos()))
        .containsEntry(
            "handOff",
            "%d times within %s"
                .formatted(Defaults.HAND_OFF.times(), Durations.show(Defaults.HAND_OFF.within())));
  }

  @ParameterizedTest
  @ValueSource(strings = {"settings.md", "settings.zh-TW.md"})
  void settingsOfALock(String page) throws IOException {
    Map<String, String> table = table(page, "lock settings");
    LockOptions defaults = LockOptions.defaults();
    assertThat(table.keySet()).isEqualTo(setters(LockOptions.class));
    assertThat(defaults.waitStrategy()).isSameAs(WaitStrategy.FAIR_QUEUE);
    assertThat(table)
        .containsEntry("lease", Durations.show(defaults.lease()))
        .containsEntry("fixedLease", defaults.autoRenewal() ? "off" : "on")
        .containsEntry("maxHold", defaults.maxHold().map(Durations::show).orElse("none"))
        .containsEntry("waiting", "FAIR_QUEUE")
        .containsEntry("interruptOnLoss", defaults.interruptsOnLoss() ? "on" : "off")
        .containsEntry("lockDelay", Durations.show(defaults.lockDelay()))
        .containsEntry("keepAtLeast", Durations.show(defaults.keepAtLeast()))
        .containsEntry("leakTrace", defaults.tracesLeaks() ? "on" : "off")
        .containsEntry("warnAfter", defaults.warnAfter().map(Durations::show).orElse("none"));
  }

  @Test
  void exceptions() throws IOException {
    Set<String> classes = new TreeSet<>();
    for (String module : List.of("core", "http", "micrometer", "recipes", "spring")) {
      Path sources = Repository.ROOT.resolve("fenceline-" + module).resolve("src/main/java");
      try (Stream<Path> files = Files.walk(sources)) {
        files
            .map(file -> file.getFileName().toString())
            .filter(name -> name.endsWith("Exception.java"))
            .forEach(name -> classes.add(name.replace(".java", "")));
      }
    }
    assertThat(classes).hasSize(10);
    for (String page : new String[] {"exceptions.md", "exceptions.zh-TW.md"}) {
      String text = Files.readString(Repository.ROOT.resolve("docs").resolve(page));
      Matcher rows = ROW.matcher(text);
      Set<String> named = new TreeSet<>();
      while (rows.find()) {
        named.add(rows.group(1));
      }
      assertThat(named).as(page).isEqualTo(classes);
    }
  }
}
