package io.fenceline.docs;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Java of a page: statements, or members of a class if its marker says so. */
final class JavaCode {
  private static final String IMPORTS =
      """
      import io.fenceline.*;
      import io.fenceline.diagnosis.*;
      import io.fenceline.docs.Given;
      import io.fenceline.etcd.*;
      import io.fenceline.event.*;
      import io.fenceline.fence.*;
      import io.fenceline.jdbc.*;
      import io.fenceline.recipes.cache.*;
      import io.fenceline.recipes.election.*;
      import io.fenceline.recipes.once.*;
      import io.fenceline.recipes.ratelimit.*;
      import io.fenceline.recipes.striped.*;
      import io.fenceline.redis.*;
      import io.fenceline.settings.*;
      import io.fenceline.testkit.*;
      import io.fenceline.testkit.contract.*;
      import io.fenceline.testkit.fault.*;
      import io.fenceline.testkit.harness.*;
      import io.fenceline.zookeeper.*;
      import java.sql.Connection;
      import java.sql.DriverManager;
      import java.time.*;
      import java.util.*;
      import java.util.concurrent.*;
      import java.util.concurrent.locks.Lock;
      """;

  private static final Pattern IMPORT = Pattern.compile("(?m)^import .*;\\n");

  private final Path folder;
  private final String source;

  private JavaCode(Path folder, String source) {
    this.folder = folder;
    this.source = source;
  }

  /** Statements. */
  static JavaCode statements(Path folder, String code) {
    return new JavaCode(
        folder,
        imports(code)
            + "public class Code extends Given {\n"
            + "  public Code() throws InterruptedException {}\n"
            + "  @Override public void run() throws Exception {\n"
            + IMPORT.matcher(code).replaceAll("")
            + "  }\n}\n");
  }

  /** Fields, methods and classes. */
  static JavaCode members(Path folder, String code) {
    return new JavaCode(
        folder,
        imports(code)
            + "public abstract class Code extends Given {\n"
            + "  Code() throws InterruptedException {}\n"
            + IMPORT.matcher(code).replaceAll("")
            + "}\n");
  }

  private static String imports(String code) {
    StringBuilder all = new StringBuilder(IMPORTS);
    Matcher own = IMPORT.matcher(code);
    while (own.find()) {
      all.append(own.group());
    }
    return all.toString();
  }

  /** What the compiler has to say against it. */
  List<String> compile() throws IOException {
    return compile(folder, Files.writeString(folder.resolve("Code.java"), source));
  }

  /** What the compiler has to say against a file; its classes go to the folder. */
  static List<String> compile(Path folder, Path file) throws IOException {
    JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
    DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
    String classPath =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    try (StandardJavaFileManager files = javac.getStandardFileManager(found, null, null)) {
      javac
          .getTask(
              null,
              files,
              found,
              List.of(
                  "-proc:none",
                  "-implicit:none",
                  "-parameters",
                  "-d",
                  folder.toString(),
                  "-cp",
                  classPath),
              null,
              files.getJavaFileObjects(file))
          .call();
    }
    return found.getDiagnostics().stream()
        .filter(diagnostic -> diagnostic.getKind() == Diagnostic.Kind.ERROR)
        .map(error -> error.getMessage(null) + " in line " + error.getLineNumber())
        .toList();
  }

  /** Runs what was compiled. */
  void run() throws Exception {
    URL[] here = {folder.toUri().toURL()};
    try (URLClassLoader loader = new URLClassLoader(here, JavaCode.class.getClassLoader());
        Given code = (Given) loader.loadClass("Code").getDeclaredConstructor().newInstance()) {
      code.run();
    }
  }

  String source() {
    return source;
  }
}
