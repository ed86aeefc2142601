package io.fenceline.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * README's way to get the artifacts works.
 *
 * <p>It is typed in a copy of the clone, with a local repository of its own and without the
 * network. The copy has the classes that this build has just compiled, so that only what comes
 * after them is done again, but for what makes the tool start faster on one machine, which is not
 * published.
 */
class InstallIT {
  private static final String COMMAND = "mvn -q install -DskipTests";
  private static final List<String> PUBLISHED =
      List.of(
          "fenceline-parent",
          "fenceline-core",
          "fenceline-jdbc",
          "fenceline-redis",
          "fenceline-zookeeper",
          "fenceline-etcd",
          "fenceline-http",
          "fenceline-recipes",
          "fenceline-micrometer",
          "fenceline-spring",
          "fenceline-spring-boot",
          "fenceline-spring-boot-starter",
          "fenceline-spring-boot3-starter",
          "fenceline-testkit",
          "fenceline-cli",
          "fenceline-bom");
  private static final long PATIENCE_SECONDS = 300;

  @TempDir Path folder;

  @Test
  void theCommandOfTheReadme_installsWhatIsPublished_andNothingElse() throws Exception {
    assertThat(Repository.document("README.md").blocks)
        .anyMatch(block -> block.language().equals("sh") && block.text().strip().equals(COMMAND));
    Path clone = folder.resolve("clone");
    Path repository = folder.resolve("repository");
    copyOfTheClone(clone);
    copyOfTheLocalRepository(repository);

    run(
        clone,
        COMMAND
            + " -B -ntp -o -Dmaven.repo.local="
            + repository
            + " -Dmaven.main.skip=true -Dmaven.test.skip=true -Djacoco.skip=true"
            + " -Dspotless.check.skip=true -Dfenceline.prepare=no");

    try (Stream<Path> installed = Files.list(repository.resolve("io/fenceline"))) {
      assertThat(installed.filter(Files::isDirectory).map(path -> path.getFileName().toString()))
          .containsExactlyInAnyOrderElementsOf(PUBLISHED);
    }
    for (String artifact : PUBLISHED) {
      boolean isPom = artifact.equals("fenceline-parent") || artifact.equals("fenceline-bom");
      try (Stream<Path> files = Files.walk(repository.resolve("io/fenceline/" + artifact))) {
        assertThat(files)
            .as(artifact)
            .anyMatch(f -> f.toString().endsWith(isPom ? ".pom" : ".jar"));
      }
    }
  }

  @Test
  void theBom_hasEveryPublishedArtifact() {
    String bom = Repository.read(Repository.ROOT.resolve("fenceline-bom/pom.xml"));
    String parent = Repository.read(Repository.ROOT.resolve("pom.xml"));
    List<String> published = new ArrayList<>();
    Matcher modules = Pattern.compile("<module>([^<]+)</module>").matcher(parent);
    while (modules.find()) {
      String module = modules.group(1);
      String pom = Repository.read(Repository.ROOT.resolve(module + "/pom.xml"));
      if (!pom.contains("<maven.deploy.skip>true<") && !module.equals("fenceline-bom")) {
        published.add(module);
      }
    }
    assertThat(published).isSubsetOf(PUBLISHED).contains("fenceline-core");
    assertThat(published)
        .allMatch(module -> bom.contains("<artifactId>" + module + "</artifactId>"));
  }

  /** Sources, and of what was built only the classes. */
  private static void copyOfTheClone(Path copy) throws IOException {
    Files.walkFileTree(
        Repository.ROOT,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path from, BasicFileAttributes ignored)
              throws IOException {
            String name = from.getFileName().toString();
            boolean isBuilt = from.getParent().getFileName().toString().equals("target");
            if (name.equals(".git") || (isBuilt && !name.equals("classes"))) {
              return FileVisitResult.SKIP_SUBTREE;
            }
            Files.createDirectories(copy.resolve(Repository.ROOT.relativize(from).toString()));
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path from, BasicFileAttributes attributes)
              throws IOException {
            if (attributes.isRegularFile()
                && !from.getParent().getFileName().toString().equals("target")) {
              Files.copy(from, copy.resolve(Repository.ROOT.relativize(from).toString()));
            }
            return FileVisitResult.CONTINUE;
          }
        });
  }

  /** Links to what others have published, and nothing of ours. */
  private void copyOfTheLocalRepository(Path copy) throws Exception {
    Path real = Path.of(System.getProperty("fenceline.repository"));
    run(
        folder,
        """
        mkdir %2$s
        cp -al %1$s/. %2$s 2>/dev/null || cp -a %1$s/. %2$s
        rm -rf %2$s/io/fenceline
        find %2$s '(' -name _remote.repositories -o -name '*.lastUpdated' ')' -delete
        """
            .formatted(real, copy));
  }

  private void run(Path where, String commands) throws Exception {
    Path output = folder.resolve("output");
    Process bash =
        new ProcessBuilder("bash", "-ec", commands)
            .directory(where.toFile())
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertThat(bash.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS))
          .as("ended within %d s: %s%n%s", PATIENCE_SECONDS, commands, Repository.read(output))
          .isTrue();
    } finally {
      bash.descendants().forEach(ProcessHandle::destroy);
      bash.destroyForcibly();
    }
    assertThat(bash.exitValue())
        .as("exit code of %s%n%s", commands, Repository.read(output))
        .isZero();
  }
}
