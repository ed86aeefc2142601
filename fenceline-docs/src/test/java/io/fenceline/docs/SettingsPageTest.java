package io.fenceline.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.FencelineBuilder;
import io.fenceline.LockOptions;
import io.fenceline.etcd.EtcdStores;
import io.fenceline.jdbc.JdbcStores;
import io.fenceline.redis.RedisStores;
import io.fenceline.redis.RedlockStores;
import io.fenceline.settings.Defaults;
import io.fenceline.settings.Durations;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.settings.WaitStrategy;
import io.fenceline.zookeeper.ZooKeeperStores;
import java.io.IOException;
import java.lang.reflect.Field;
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
import java.util.regex.MatchResult;
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

  private static Table tableOf(String page, String marker) {
    return Repository.document("docs/" + page).table(marker);
  }

  private static final Pattern CODE = Pattern.compile("`([^`]+)`");

  /** The words in code of a cell. */
  private static List<String> words(String cell) {
    return CODE.matcher(cell).results().map(word -> word.group(1)).toList();
  }

  /** The second column by the first, where an empty cell means the one above. */
  private static Map<String, Set<String>> grouped(Table table) {
    Map<String, Set<String>> groups = new TreeMap<>();
    String group = "";
    for (List<String> row : table.rows().subList(1, table.rows().size())) {
      group = row.get(0).isEmpty() ? group : words(row.get(0)).get(0);
      groups.computeIfAbsent(group, key -> new TreeSet<>()).addAll(words(row.get(1)));
    }
    return groups;
  }

  /** What the store says of a parameter that it does not know: which there are. */
  private static Set<String> parameters(String scheme) {
    try {
      Fenceline.connect(scheme + "localhost:1?nosuch=1").close();
      throw new AssertionError("accepted: " + scheme);
    } catch (InvalidSettingException e) {
      String known = String.valueOf(e.getMessage()).replaceFirst("(?s).*; there are ", "");
      return Pattern.compile("\\w+")
          .matcher(known)
          .results()
          .map(MatchResult::group)
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"settings.md", "settings.zh-TW.md"})
  void parametersOfStores(String page) {
    Map<String, Set<String>> told = grouped(tableOf(page, "store parameters"));
    assertThat(told.keySet())
        .containsExactlyInAnyOrder("redis://", "redlock://", "zookeeper://", "etcd://");
    told.forEach((scheme, names) -> assertThat(names).as(scheme).isEqualTo(parameters(scheme)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"settings.md", "settings.zh-TW.md"})
  void settingsOfStores(String page) {
    Map<String, Set<String>> told = grouped(tableOf(page, "store settings"));
    Map<String, Set<String>> there = new TreeMap<>();
    for (Class<?> type :
        List.of(
            JdbcStores.class,
            RedisStores.class,
            RedlockStores.class,
            ZooKeeperStores.class,
            EtcdStores.class)) {
      there.put(type.getSimpleName(), setters(type));
    }
    assertThat(told).isEqualTo(there);
  }

  @ParameterizedTest
  @ValueSource(strings = {"settings.md", "settings.zh-TW.md"})
  void waysToWait(String page) {
    Set<String> told =
        tableOf(page, "wait strategies").rows().stream()
            .skip(1)
            .map(row -> words(row.get(0)).get(0))
            .collect(Collectors.toCollection(TreeSet::new));
    Set<String> there = new TreeSet<>();
    for (Field field : WaitStrategy.class.getFields()) {
      there.add(field.getName());
    }
    for (Method method : WaitStrategy.class.getMethods()) {
      there.add(method.getName());
    }
    assertThat(told).isEqualTo(there);
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
