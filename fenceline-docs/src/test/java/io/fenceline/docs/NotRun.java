package io.fenceline.docs;

import java.nio.file.Files;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * The commands of the pages that the build can't run inside itself, each with the reason and with
 * what is looked at instead.
 */
final class NotRun {
  /**
   * A kind of command.
   *
   * @param pattern what its lines look like
   * @param reason why it is not run
   * @param problem what is wrong with a line, or null
   */
  record Kind(Pattern pattern, String reason, Function<Commands.Command, String> problem) {}

  static final List<Kind> KINDS =
      List.of(
          new Kind(
              Pattern.compile("\\./check(?! --help).*"),
              "it is what runs these tests",
              NotRun::checkProblem),
          new Kind(
              Pattern.compile("\\./bench(?! --help).*"),
              "it takes minutes, and its figures mean nothing beside other tests",
              NotRun::benchProblem),
          new Kind(
              Pattern.compile("mvn .*"),
              "a build within the build would overwrite what is being tested; InstallIT runs one, in a"
                  + " copy",
              NotRun::mavenProblem));

  private static final Set<String> MAVEN_WORDS =
      Set.of("mvn", "-q", "-B", "-ntp", "-o", "-am", "-pl", "test", "verify", "install", "clean");
  private static final Set<String> MAVEN_PROPERTIES =
      Set.of("test", "surefire.failIfNoSpecifiedTests", "skipTests");

  /** The last line of ./check, as its usage text has it. */
  private static final Pattern RESULT = Pattern.compile("\\d+ passed, 0 failed, 0 skipped\\s*$");

  private NotRun() {}

  /** The kind of a command that is not run, or null if it is run. */
  static Kind kindOf(String line) {
    return KINDS.stream()
        .filter(kind -> kind.pattern().matcher(withoutComment(line)).matches())
        .findFirst()
        .orElse(null);
  }

  static String withoutComment(String line) {
    return line.replaceFirst("\\s+# .*$", "");
  }

  private static String checkProblem(Commands.Command command) {
    if (!Files.isExecutable(Repository.ROOT.resolve("check"))) {
      return "there is no ./check";
    }
    String usage = Repository.read(Repository.ROOT.resolve("check"));
    if (!usage.contains("\"N passed, N failed, N skipped\"")) {
      return "the last line of ./check is another one now";
    }
    if (command.output() != null && !RESULT.matcher(command.output()).find()) {
      return "./check does not end with: " + command.output();
    }
    for (String word : withoutComment(command.line()).split("\\s+")) {
      if (word.startsWith("-") && !usage.contains("\n  " + word + " ")) {
        return "./check has no option " + word;
      }
    }
    return null;
  }

  private static String benchProblem(Commands.Command command) {
    if (!Files.isExecutable(Repository.ROOT.resolve("bench"))) {
      return "there is no ./bench";
    }
    String usage = Repository.read(Repository.ROOT.resolve("bench"));
    for (String word : withoutComment(command.line()).split("\\s+")) {
      if (word.startsWith("-") && !usage.contains("\n  " + word.replaceFirst("=.*", "="))) {
        return "./bench has no option " + word;
      }
    }
    return null;
  }

  private static String mavenProblem(Commands.Command command) {
    String pom = Repository.read(Repository.ROOT.resolve("pom.xml"));
    String before = "";
    for (String word : withoutComment(command.line()).split("\\s+")) {
      String problem = mavenWord(word, before, pom);
      if (problem != null) {
        return problem;
      }
      before = word;
    }
    return null;
  }

  private static String mavenWord(String word, String before, String pom) {
    if (before.equals("-pl")) {
      return pom.contains("<module>" + word + "</module>") ? null : "no module " + word;
    }
    if (word.startsWith("-D")) {
      String[] property = word.substring(2).split("=", 2);
      if (property[0].equals("test")) {
        return TestSources.hasClass(property[1]) ? null : "no test " + property[1];
      }
      return MAVEN_PROPERTIES.contains(property[0]) ? null : "unknown property " + property[0];
    }
    if (word.contains(":")) {
      String plugin = word.substring(0, word.indexOf(':')) + "-maven-plugin";
      return pom.contains("<artifactId>" + plugin + "</artifactId>") ? null : "no " + plugin;
    }
    return MAVEN_WORDS.contains(word) ? null : "unknown word " + word;
  }
}
