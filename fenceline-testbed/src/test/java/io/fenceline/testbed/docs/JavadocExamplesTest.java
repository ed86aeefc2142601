package io.fenceline.testbed.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The examples in the javadoc compile. */
class JavadocExamplesTest {
  private static final Pattern BLOCK =
      Pattern.compile("<pre>\\{@code\\s*\\n(.*?)\\n\\s*\\*\\s*\\}\\s*</pre>", Pattern.DOTALL);

  /** What an example may use without saying where it comes from. */
  private static final String PREAMBLE =
      """
      import static org.assertj.core.api.Assertions.*;
      import io.fenceline.*;
      import io.fenceline.diagnosis.*;
      import io.fenceline.event.*;
      import io.fenceline.fence.*;
      import io.fenceline.memory.*;
      import io.fenceline.settings.*;
      import io.fenceline.spi.*;
      import io.fenceline.time.*;
      import io.fenceline.testbed.process.*;
      import io.fenceline.testbed.proxy.*;
      import io.fenceline.testbed.server.*;
      import io.fenceline.testkit.*;
      import io.fenceline.testkit.contract.*;
      import io.fenceline.testkit.fault.*;
      import io.fenceline.testkit.fence.*;
      import io.fenceline.testkit.harness.*;
      import java.nio.file.*;
      import java.time.*;
      import java.util.*;
      import java.util.concurrent.*;
      import org.junit.jupiter.api.*;
      import org.junit.jupiter.api.extension.*;
      """;

  private static final String FIELDS =
      """
        interface Ledger { void append(String entry, long token); }
        interface Replica { boolean inSync(); }
        static class Worker {}
      """;

  private record Given(String type, String name) {}

  private static final List<Given> GIVEN =
      List.of(
          new Given("Fenceline", "fenceline"),
          new Given("FencedLock", "lock"),
          new Given("Hold", "hold"),
          new Given("Ledger", "ledger"),
          new Given("String", "entry"),
          new Given("MemorySpace", "space"),
          new Given("ManualTime", "time"),
          new Given("Replica", "replica"),
          new Given("FencedCell", "cell"),
          new Given("RedisServer", "redis"),
          new Given("FaultProxy", "proxy"));

  private record Example(String name, String code) {}

  private static List<Example> examples() {
    List<Example> found = new ArrayList<>();
    for (String module : List.of("fenceline-core", "fenceline-testkit", "fenceline-testbed")) {
      for (Path file : Sources.of(module)) {
        Matcher blocks = BLOCK.matcher(Sources.read(file));
        for (int i = 1; blocks.find(); i++) {
          String code = blocks.group(1).replaceAll("(?m)^\\s*\\* ?", "");
          found.add(new Example(file.getFileName() + " " + i, code));
        }
      }
    }
    return found;
  }

  /** A class around the example, which is a class itself, or statements. */
  private static String source(Example example) {
    if (Pattern.compile("(?m)^(@\\w+.*\\s)?(public )?(final )?class ")
        .matcher(example.code)
        .find()) {
      return PREAMBLE + "class Example {\n" + indentClass(example.code) + "}\n";
    }
    StringBuilder given = new StringBuilder();
    for (Given field : GIVEN) {
      given.append("  static %s %s;\n".formatted(field.type, field.name));
    }
    return PREAMBLE
        + "class Example {\n"
        + FIELDS
        + given
        + "  void example() throws Exception {\n"
        + example.code
        + "\n  }\n}\n";
  }

  private static String indentClass(String code) {
    return code.replaceFirst("(?m)^class ", "static class ") + "\n";
  }

  private static List<String> errors(String source) {
    JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
    DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
    JavaFileObject file =
        new SimpleJavaFileObject(URI.create("string:///Example.java"), JavaFileObject.Kind.SOURCE) {
          @Override
          public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return source;
          }
        };
    javac
        .getTask(
            null,
            null,
            found,
            List.of("-proc:none", "-implicit:none", "-d", "target", "-cp", Sources.classPath()),
            null,
            List.of(file))
        .call();
    return found.getDiagnostics().stream()
        .filter(diagnostic -> diagnostic.getKind() == Diagnostic.Kind.ERROR)
        .map(String::valueOf)
        .toList();
  }

  @TestFactory
  Stream<DynamicTest> examples_compile() {
    return examples().stream()
        .map(
            example ->
                DynamicTest.dynamicTest(
                    example.name,
                    () ->
                        assertThat(errors(source(example))).as("in%n%s", example.code).isEmpty()));
  }

  @Test
  void examples_areFound() {
    assertThat(examples())
        .extracting(Example::name)
        .contains("Fenceline.java 1", "FencedLock.java 1", "LockContract.java 1")
        .hasSizeGreaterThan(8);
  }

  @Test
  void exampleThatDoesNotCompile_isNoticed() {
    assertThat(errors(source(new Example("wrong", "Hold hold = lock.aquire();")))).isNotEmpty();
    assertThat(errors(source(new Example("right", "Hold mine = lock.acquire(Duration.ZERO);"))))
        .isEmpty();
  }
}
