package io.fenceline.cli.prepare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fenceline.cli.tool.Javas;
import io.fenceline.cli.tool.Servers;
import io.fenceline.cli.tool.Tool;
import io.fenceline.cli.tool.Tool.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What a start costs is decided by what the archive of classes has, and not by a stopwatch. */
class StartIT {
  private static final double MOST_UNPREPARED = 0.03;

  // On disk: programs are run out of it, which a container may forbid in memory.
  @TempDir(factory = TempDirFactory.Standard.class)
  static Path distributions;

  /** A distribution for each Java, with the archives that this Java has made. */
  private static final Map<Path, Path> LAUNCHERS =
      new HashMap<>(Map.of(Javas.own(), Tool.LAUNCHER));

  @TempDir Path folder;

  @AfterAll
  static void forget() {
    LAUNCHERS.keySet().retainAll(List.of(Javas.own()));
  }

  private static Path launcherPreparedBy(Path java) throws IOException, InterruptedException {
    Path launcher = LAUNCHERS.get(java);
    if (launcher == null) {
      Path home = distributions.resolve(java.getFileName());
      exec(java, "cp", "-a", Tool.DIST.toAbsolutePath().toString(), home.toString());
      exec(java, "sh", "-c", "rm -rf \"$0\"/lib/*.jsa \"$0\"/lib/native", home.toString());
      exec(java, "sh", home.resolve("lib/prepare.sh").toString());
      launcher = home.resolve("bin/fenceline");
      LAUNCHERS.put(java, launcher);
    }
    return launcher;
  }

  private static void exec(Path java, String... command) throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("JAVA_HOME", java.toString());
    Process process = builder.start();
    String said = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor(Tool.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(said).isEmpty();
    assertThat(process.exitValue()).isZero();
  }

  static Stream<Arguments> javasAndStores() throws IOException {
    return Javas.all().stream()
        .flatMap(
            java ->
                Stream.of(Servers.SQLITE, Servers.REDIS).map(store -> Arguments.of(java, store)));
  }

  private Tool tool(Path java, Servers store) throws Exception {
    Tool tool = new Tool(folder);
    tool.launcher = launcherPreparedBy(java);
    tool.environment.put("JAVA_HOME", java.toString());
    tool.environment.put("FENCELINE_STORE", store.uri(folder));
    return tool;
  }

  @ParameterizedTest
  @MethodSource("javasAndStores")
  void nearlyAllClassesOfARun_comeFromTheArchive(Path java, Servers store) throws Exception {
    Tool tool = tool(java, store);
    Path log = folder.resolve("classes");
    tool.environment.put("FENCELINE_JAVA_OPTS", "-Xlog:class+load:file=" + log);

    assertThat(tool.run("run", "job", "--", "true").code()).isZero();

    List<String> loaded =
        Files.readAllLines(log).stream().filter(l -> l.contains("source:")).toList();
    List<String> others = loaded.stream().filter(l -> !l.contains("shared objects file")).toList();
    assertThat(loaded).hasSizeGreaterThan(1000);
    assertThat(others).hasSizeLessThan((int) (loaded.size() * MOST_UNPREPARED));
  }

  /** What Lettuce needs, another thread begins with; nobody else pays for it. */
  @ParameterizedTest
  @MethodSource("javasAndStores")
  void bigNumbers_areReadyBeforeLettuceComputesInThem_andNoneAreNeededOnSqlite(
      Path java, Servers store) throws Exception {
    Tool tool = tool(java, store);
    Path log = folder.resolve("classes");
    tool.environment.put("FENCELINE_JAVA_OPTS", "-Xlog:class+init=info:file=" + log + ":tid");

    assertThat(tool.run("run", "job", "--", "true")).isEqualTo(new Result(0, "", ""));

    List<String> initialised = Files.readAllLines(log);
    Optional<String> bigNumbers = threadThatInitialised("java/math/BigDecimal", initialised);
    assertThat(threadThatInitialised("io/fenceline/cli/HeadStart", initialised)).isPresent();
    if (store == Servers.SQLITE) {
      assertThat(bigNumbers).isEmpty();
    } else {
      assertThat(bigNumbers)
          .isPresent()
          .isNotEqualTo(threadThatInitialised("io/fenceline/cli/RunCommand", initialised));
    }
  }

  /** Its id, as lines begin with it. */
  private static Optional<String> threadThatInitialised(String type, List<String> initialised) {
    return initialised.stream()
        .filter(line -> line.contains(" Initializing '" + type + "'"))
        .map(line -> line.substring(0, line.indexOf(']')))
        .findFirst();
  }

  /** Later versions keep classes loaded and linked, too. */
  @Test
  void java25_usesLinkedClasses() throws Exception {
    Optional<Path> java = Javas.java25();
    assumeTrue(java.isPresent(), "no Java 25 on this machine");
    for (Servers store : List.of(Servers.SQLITE, Servers.REDIS)) {
      Tool tool = tool(java.orElseThrow(), store);
      Path log = folder.resolve("aot");
      tool.environment.put("FENCELINE_JAVA_OPTS", "-Xlog:aot:file=" + log);

      assertThat(tool.run("run", "job", "--", "true")).isEqualTo(new Result(0, "", ""));

      assertThat(Files.readString(log)).contains("Using AOT-linked classes: true");
    }
  }

  /** Whichever Java made the archives, another one starts without them, and without a word. */
  @Test
  void anotherJava_startsWithoutTheArchive_andSaysNothing() throws Exception {
    List<Path> javas = Javas.all();
    for (Path maker : javas) {
      for (Path user : javas) {
        for (Servers store : List.of(Servers.SQLITE, Servers.REDIS)) {
          Tool tool = tool(maker, store);
          tool.environment.put("JAVA_HOME", user.toString());
          assertThat(tool.run("run", "job", "--", "echo", "held"))
              .as("archive of %s, used by %s", maker, user)
              .isEqualTo(new Result(0, "held\n", ""));
        }
      }
    }
  }

  /** A half-written archive, or one that was cut off by a full disk. */
  @Test
  void aBrokenArchive_isNotUsed_andNothingIsSaid() throws Exception {
    for (Path java : Javas.all()) {
      Tool tool = tool(java, Servers.SQLITE);
      // In its place: a copy elsewhere is not used anyway.
      Path archive = tool.launcher.resolveSibling("../lib/sqlite.jsa");
      Path whole = archive.resolveSibling("whole");
      Files.move(archive, whole);
      try {
        byte[] bytes = Files.readAllBytes(whole);
        Files.write(archive, Arrays.copyOf(bytes, bytes.length / 2));
        assertThat(tool.run("run", "job", "--", "echo", "held"))
            .isEqualTo(new Result(0, "held\n", ""));
      } finally {
        Files.move(whole, archive, StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }

  /** Whatever Java looks for and does not find, it looks for in all jars of the class path. */
  @Test
  void aRunOnSqliteOrRedis_hasFewJars_andAllAreThereForTheRest() throws Exception {
    Path lib = Tool.DIST.resolve("lib");
    List<String> sqlite = classPath(lib.resolve("sqlite.jar"));
    List<String> redis = classPath(lib.resolve("redis.jar"));
    List<String> all = classPath(lib.resolve("all.jar"));
    assertThat(sqlite).anyMatch(jar -> jar.startsWith("sqlite-jdbc-")).hasSizeLessThan(15);
    assertThat(redis).anyMatch(jar -> jar.startsWith("lettuce-core-")).hasSizeLessThan(30);
    assertThat(all).containsAll(sqlite).containsAll(redis).contains("mysql-connector-j.jar");
    try (Stream<Path> jars = Files.list(lib)) {
      List<String> libraries =
          jars.map(jar -> jar.getFileName().toString())
              .filter(name -> name.endsWith(".jar"))
              .filter(name -> !List.of("sqlite.jar", "redis.jar", "all.jar").contains(name))
              .toList();
      assertThat(all).containsAll(libraries);
    }
  }

  private static List<String> classPath(Path jar) throws IOException {
    try (JarFile file = new JarFile(jar.toFile())) {
      Attributes attributes = file.getManifest().getMainAttributes();
      return List.of(attributes.getValue(Attributes.Name.CLASS_PATH).split(" "));
    }
  }

  /** A run finds the drivers of its store, however the store is named. */
  @ParameterizedTest
  @EnumSource(names = {"SQLITE", "REDIS", "POSTGRESQL"})
  void theStoreOfARun_isFound_howeverItIsNamed(Servers store) throws Exception {
    Tool tool = tool(Javas.own(), store);
    String uri = tool.environment.remove("FENCELINE_STORE");
    Result held = new Result(0, "held\n", "");
    assertThat(tool.run("run", "job", "--store", uri, "--", "echo", "held")).isEqualTo(held);
    assertThat(tool.run("run", "job", "--store=" + uri, "-c", "echo held")).isEqualTo(held);
    assertThat(tool.run("--store", uri, "run", "job", "-c", "echo held")).isEqualTo(held);
    for (Servers other : List.of(Servers.SQLITE, Servers.REDIS)) {
      tool.environment.put("FENCELINE_STORE", other.uri(folder));
      assertThat(tool.run("run", "job", "--store", uri, "--", "echo", "held")).isEqualTo(held);
    }
    tool.environment.remove("FENCELINE_STORE");
    Path config = Files.createDirectories(folder.resolve("home/.config/fenceline"));
    Files.writeString(config.resolve("config"), "store = " + uri + "\n");
    assertThat(tool.run("run", "job", "--", "echo", "held")).isEqualTo(held);
    tool.environment.put("XDG_CONFIG_HOME", "relative"); // Ignored, as the specification says.
    assertThat(tool.run("run", "job", "--", "echo", "held")).isEqualTo(held);
  }
}
