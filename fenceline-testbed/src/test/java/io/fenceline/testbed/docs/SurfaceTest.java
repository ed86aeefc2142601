package io.fenceline.testbed.docs;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.DirectiveTree;
import com.sun.source.tree.ExportsTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ModuleTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.lang.model.element.Modifier;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/** How much there is to see for whoever uses the libraries. */
class SurfaceTest {
  private static final int MOST_TYPES_SEEN_FIRST = 25;
  private static final int MOST_EXCEPTIONS = 10;

  /** Public types of one module, as {@code package.Type} or {@code package.Type.Nested}. */
  private static final class Scan extends TreeScanner<Void, String> {
    final List<String> types = new ArrayList<>();
    final Set<String> exceptions = new TreeSet<>();
    private boolean inInterface;

    @Override
    public Void visitClass(ClassTree type, String outer) {
      Set<Modifier> modifiers = type.getModifiers().getFlags();
      boolean open =
          modifiers.contains(Modifier.PUBLIC)
              || modifiers.contains(Modifier.PROTECTED)
              || inInterface;
      if (outer.isEmpty() || type.getSimpleName().isEmpty() || !open) {
        return null; // What is inside of it can't be seen either.
      }
      String name = outer + "." + type.getSimpleName();
      types.add(name);
      Tree parent = type.getExtendsClause();
      if (parent != null && parent.toString().matches(".*(Exception|Error|Throwable)")) {
        exceptions.add(name);
      }
      boolean was = inInterface;
      inInterface =
          type.getKind() == Tree.Kind.INTERFACE || type.getKind() == Tree.Kind.ANNOTATION_TYPE;
      super.visitClass(type, name);
      inInterface = was;
      return null;
    }

    @Override
    public Void visitMethod(MethodTree method, String outer) {
      return null;
    }
  }

  private final Scan scan = new Scan();

  /** The libraries: what the BOM names, but for the tool, which is a program. */
  private static Set<String> libraries() {
    Set<String> found = new TreeSet<>();
    Path root = Path.of("..");
    Matcher artifact =
        Pattern.compile("<artifactId>(fenceline-[a-z0-9-]+)</artifactId>")
            .matcher(Sources.read(root.resolve("fenceline-bom/pom.xml")));
    while (artifact.find()) {
      found.add(artifact.group(1));
    }
    found.removeAll(Set.of("fenceline-bom", "fenceline-cli", "fenceline-parent"));
    found.removeIf(module -> !root.resolve(module).resolve("src/main/java").toFile().isDirectory());
    return found;
  }

  private void scanModule(String module) throws IOException {
    JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
    try (StandardJavaFileManager files = javac.getStandardFileManager(null, null, null)) {
      JavacTask task =
          (JavacTask)
              javac.getTask(
                  null,
                  files,
                  null,
                  List.of("-proc:none"),
                  null,
                  files.getJavaFileObjectsFromPaths(Sources.of(module)));
      List<CompilationUnitTree> units = new ArrayList<>();
      task.parse().forEach(units::add);
      Set<String> exported = new HashSet<>();
      boolean all = true; // A module without a descriptor hides nothing.
      for (CompilationUnitTree unit : units) {
        ModuleTree descriptor = unit.getModule();
        if (descriptor != null) {
          all = false;
          exported.addAll(exportedToAll(descriptor));
        }
      }
      for (CompilationUnitTree unit : units) {
        String name = String.valueOf(unit.getPackageName());
        if (unit.getPackageName() != null && (all || exported.contains(name))) {
          scan.scan(unit, name);
        }
      }
    }
  }

  private static List<String> exportedToAll(ModuleTree descriptor) {
    List<String> exported = new ArrayList<>();
    for (DirectiveTree directive : descriptor.getDirectives()) {
      if (directive instanceof ExportsTree exports && exports.getModuleNames() == null) {
        exported.add(exports.getPackageName().toString());
      }
    }
    return exported;
  }

  @Test
  void packageThatUsersSeeFirst_isSmall() throws IOException {
    scanModule("fenceline-core");
    List<String> first =
        scan.types.stream().filter(type -> type.matches("io\\.fenceline\\.[A-Z].*")).toList();
    assertThat(first).contains("io.fenceline.Fenceline", "io.fenceline.Acquirable.Task");
    assertThat(first).hasSizeLessThanOrEqualTo(MOST_TYPES_SEEN_FIRST);
  }

  @Test
  void packagesThatUsersSee_knowNothingOfTheSpi() throws IOException {
    Set<Path> knowing = new TreeSet<>();
    int seen = 0;
    for (Path source : Sources.of("fenceline-core")) {
      String folder = source.getParent().toString();
      if (folder.matches(".*/io/fenceline(/(settings|time|diagnosis|event|metrics))?")) {
        seen++;
        if (Sources.read(source).contains("io.fenceline.spi.")) {
          knowing.add(source);
        }
      }
    }
    assertThat(seen).isGreaterThan(50);
    assertThat(knowing).isEmpty();
  }

  @Test
  void runtime_isNotExported_andHasOnePublicClass() throws IOException {
    scanModule("fenceline-core");
    assertThat(scan.types).noneMatch(type -> type.startsWith("io.fenceline.runtime."));
    List<String> open =
        Sources.of("fenceline-core").stream()
            .filter(source -> source.getParent().endsWith("runtime"))
            .filter(source -> Sources.read(source).matches("(?s).*\\npublic .*"))
            .map(source -> source.getFileName().toString())
            .toList();
    assertThat(open).containsExactly("ClientBuilder.java");
  }

  @Test
  void entryOfEveryStore_hasOneForm_andIsImmutable() throws IOException {
    List<String> entries = new ArrayList<>();
    for (String module : libraries()) {
      for (Path source : Sources.of(module)) {
        String name = source.getFileName().toString().replace(".java", "");
        String text = Sources.read(source);
        if (name.endsWith("Stores") && text.contains("implements StoreFactory")) {
          entries.add(name);
          assertThat(text)
              .contains("public final class " + name + " implements StoreFactory")
              .containsPattern("public static " + name + " at\\(String \\w+\\)")
              .doesNotContainPattern("(?m)^  private (?!final |static |" + name + "\\()[^(]*;");
        }
      }
    }
    assertThat(entries)
        .containsExactlyInAnyOrder(
            "EtcdStores", "JdbcStores", "RedisStores", "RedlockStores", "ZooKeeperStores");
  }

  @Test
  void exceptionsOfAllLibraries_areFew_andTheirPageNamesEach() throws IOException {
    Set<String> libraries = libraries();
    assertThat(libraries)
        .contains("fenceline-core", "fenceline-recipes", "fenceline-spring", "fenceline-zookeeper");
    for (String module : libraries) {
      scanModule(module);
    }
    assertThat(scan.exceptions)
        .contains("io.fenceline.LockLostException")
        .hasSizeLessThanOrEqualTo(MOST_EXCEPTIONS);
    String page = Sources.read(Path.of("..", "docs", "exceptions.md"));
    for (String exception : scan.exceptions) {
      String name = exception.substring(exception.lastIndexOf('.') + 1);
      assertThat(page).contains("| `" + name + "` |");
    }
  }
}
