package io.fenceline.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Java on the pages compiles and, unless its marker says why not, runs.
 *
 * <p>Markers, in a comment above a block: {@code with redis} (or another server that {@link
 * Servers} knows), {@code members} (a part of a class, compiled only), {@code test} (a whole class
 * of tests, which must pass), {@code program} (a whole program, which prints what the next block
 * shows, but for its numbers), {@code compiled, not run: reason}.
 */
class JavaBlocksTest {
  private static final Servers SERVERS = new Servers();
  private static final int MOST_LINES = 25; // The first program has to be read at one glance.

  @TempDir static Path folder;

  @AfterAll
  static void stop() throws Exception {
    SERVERS.close();
  }

  private static List<Block> blocks() {
    return Repository.documents().stream()
        .flatMap(page -> page.blocks.stream())
        .filter(block -> block.language().equals("java"))
        .toList();
  }

  private static void check(Block block) throws Exception {
    Path own = Files.createTempDirectory(folder, "code");
    String notRun = block.marked("compiled, not run:");
    if (block.marked("members") != null || notRun != null) {
      assertThat(notRun).as("the reason").isNotEqualTo("");
      JavaCode code =
          block.marked("members") != null
              ? JavaCode.members(own, block.text())
              : JavaCode.statements(own, block.text());
      assertThat(code.compile()).as(code.source()).isEmpty();
      return;
    }
    if (block.marked("test") != null) {
      TestClass tests = TestClass.of(own, block.text());
      assertThat(tests.compile()).as(block.text()).isEmpty();
      tests.run();
      return;
    }
    if (block.marked("program") != null) {
      if (block.page().startsWith("README")) {
        assertThat(block.text().lines().count()).as("lines").isLessThanOrEqualTo(MOST_LINES);
      }
      Program program = Program.of(own, block.text());
      assertThat(program.compile()).as(block.text()).isEmpty();
      assertThat(Program.withoutNumbers(program.run()))
          .isEqualTo(Program.withoutNumbers(after(block).text()));
      return;
    }
    String server = block.marked("with");
    JavaCode code =
        JavaCode.statements(own, server == null ? block.text() : SERVERS.in(block.text(), server));
    assertThat(code.compile()).as(code.source()).isEmpty();
    code.run();
  }

  /** The block that follows: what a program prints. */
  private static Block after(Block block) {
    List<Block> all =
        Repository.documents().stream().flatMap(page -> page.blocks.stream()).toList();
    return all.get(all.indexOf(block) + 1);
  }

  @TestFactory
  Stream<DynamicTest> code_compilesAndRuns() {
    return blocks().stream()
        .map(block -> DynamicTest.dynamicTest(block.toString(), () -> check(block)));
  }

  @Test
  void codeIsFound() {
    assertThat(blocks()).extracting(Block::page).contains("README.md", "README.zh-TW.md");
  }

  @Test
  void codeThatIsWrong_isNoticed() throws Exception {
    JavaCode wrong =
        JavaCode.statements(Files.createTempDirectory(folder, "wrong"), "lock.aquire();\n");
    assertThat(wrong.compile()).singleElement().asString().contains("aquire");
  }
}
