package io.fenceline.testbed.docs;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.util.DocTrees;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePathScanner;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.lang.model.element.Modifier;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/** Every public type, and every package, says what it is. */
class PublicTypesTest {

  private static final class Scan extends TreePathScanner<Void, Boolean> {
    private final DocTrees docs;
    final List<String> silent = new ArrayList<>();
    int types;

    Scan(DocTrees docs) {
      this.docs = docs;
    }

    @Override
    public Void visitClass(ClassTree type, Boolean visible) {
      boolean open =
          visible
              && (type.getModifiers().getFlags().contains(Modifier.PUBLIC)
                  || type.getModifiers().getFlags().contains(Modifier.PROTECTED));
      if (open) {
        types++;
        String comment = docs.getDocComment(getCurrentPath());
        if (comment == null || comment.isBlank()) {
          silent.add(
              getCurrentPath().getCompilationUnit().getSourceFile().getName()
                  + ": "
                  + type.getSimpleName());
        }
      }
      return super.visitClass(type, open);
    }
  }

  @Test
  void publicTypes_haveJavadoc() throws IOException {
    JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
    List<Path> sources = Sources.ofEveryModule();
    try (StandardJavaFileManager files = javac.getStandardFileManager(null, null, null)) {
      JavacTask task =
          (JavacTask)
              javac.getTask(
                  null,
                  files,
                  null,
                  List.of("-proc:none"),
                  null,
                  files.getJavaFileObjectsFromPaths(sources));
      Scan scan = new Scan(DocTrees.instance(task));
      for (CompilationUnitTree unit : task.parse()) {
        scan.scan(unit, true);
      }

      assertThat(scan.types).isGreaterThan(60);
      assertThat(scan.silent).isEmpty();
    }
  }

  @Test
  void packages_sayWhatLivesThere_andAreNullMarked() {
    List<Path> sources = Sources.ofEveryModule();
    List<Path> folders = sources.stream().map(Path::getParent).distinct().toList();
    for (Path folder : folders) {
      boolean onlyModule =
          sources.stream()
              .filter(source -> source.getParent().equals(folder))
              .allMatch(source -> source.endsWith("module-info.java"));
      if (!onlyModule) {
        assertThat(Sources.read(folder.resolve("package-info.java")))
            .as("package-info of %s", folder)
            .contains("/**")
            .contains("@NullMarked");
      }
    }
  }
}
