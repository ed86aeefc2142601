package io.fenceline.docs;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** The Java sources of all modules, by the names of their classes. */
final class TestSources {
  private static final Map<String, List<Path>> BY_CLASS = new HashMap<>();

  static {
    for (Path file : Repository.files(".java")) {
      String name = file.getFileName().toString().replace(".java", "");
      BY_CLASS.computeIfAbsent(name, ignored -> new ArrayList<>()).add(file);
    }
  }

  private TestSources() {}

  static boolean hasClass(String name) {
    return BY_CLASS.containsKey(name);
  }

  /** Whether a class has a method of this name, be it a test or not. */
  static boolean hasMethod(String className, String method) {
    Pattern call = Pattern.compile("\\b" + Pattern.quote(method) + "\\(");
    return BY_CLASS.getOrDefault(className, List.of()).stream()
        .anyMatch(file -> call.matcher(Repository.read(file)).find());
  }

  /** Whether a source has a test of this name. */
  static boolean hasTest(Path file, String method) {
    return Pattern.compile(
            "@(?:Test|ParameterizedTest|RepeatedTest|TestFactory)\\b(?:(?!void ).){0,3000}?"
                + "(?:void|Stream<DynamicTest>) "
                + Pattern.quote(method)
                + "\\(",
            Pattern.DOTALL)
        .matcher(Repository.read(file))
        .find();
  }
}
