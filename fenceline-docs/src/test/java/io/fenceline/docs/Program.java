package io.fenceline.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A whole program on a page, which is run as a process of its own, in a folder of its own. */
record Program(Path folder, String name, String source) {
  private static final Pattern NAME = Pattern.compile("(?m)^public class (\\w+)");
  private static final Pattern NUMBER = Pattern.compile("[0-9]+");
  private static final int BOUND_SECONDS = 120;

  static Program of(Path folder, String source) {
    Matcher name = NAME.matcher(source);
    assertThat(name.find()).as("a public class in:\n%s", source).isTrue();
    return new Program(folder, name.group(1), source);
  }

  /** What the compiler has to say against it. */
  List<String> compile() throws IOException {
    return JavaCode.compile(folder, Files.writeString(folder.resolve(name + ".java"), source));
  }

  /** What it prints to stdout; it must end well. */
  String run() throws Exception {
    String classPath =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    Path errors = folder.resolve("stderr");
    Process process =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElse("java"),
                "-cp",
                folder + ":" + classPath,
                name)
            .directory(folder.toFile())
            .redirectError(errors.toFile())
            .start();
    String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(Files.readString(errors)).isZero();
    return printed;
  }

  /** The same text with the same sign for every number. */
  static String withoutNumbers(String text) {
    return NUMBER.matcher(text).replaceAll("N");
  }
}
