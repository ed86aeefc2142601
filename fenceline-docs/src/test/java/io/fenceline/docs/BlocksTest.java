package io.fenceline.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;

/**
 * No block of a page goes unchecked: Java is compiled and run, commands are run, XML is parsed and
 * its artifacts are ours, and all else names in its marker the test that checks it, or is a
 * drawing.
 */
class BlocksTest {
  private static final Pattern CHECKED_BY = Pattern.compile("checked by (\\w+)#(\\w+)");
  private static final Pattern ARTIFACT = Pattern.compile("<artifactId>([^<]+)</artifactId>");
  private static final Pattern VERSION = Pattern.compile("<version>([^<]+)</version>");

  private static String problem(Block block) {
    switch (block.language()) {
      case "java", "sh", "console" -> {
        return null;
      }
      case "xml" -> {
        return xmlProblem(block.text());
      }
      default -> {
        if (block.language().equals("text") && block.marker().equals("drawing")) {
          return null;
        }
        Matcher checked = CHECKED_BY.matcher(block.marker());
        if (!checked.matches()) {
          return "nothing checks it: give it a language, or a marker 'checked by Class#method'";
        }
        return TestSources.hasMethod(checked.group(1), checked.group(2))
            ? null
            : "there is no " + block.marker().substring("checked by ".length());
      }
    }
  }

  private static String xmlProblem(String text) {
    try {
      DocumentBuilderFactory.newInstance()
          .newDocumentBuilder()
          .parse(
              new ByteArrayInputStream(("<x>" + text + "</x>").getBytes(StandardCharsets.UTF_8)));
    } catch (Exception e) {
      return "no XML: " + e.getMessage();
    }
    String pom = Repository.read(Repository.ROOT.resolve("pom.xml"));
    Matcher artifact = ARTIFACT.matcher(text);
    while (artifact.find()) {
      if (!pom.contains("<artifactId>" + artifact.group(1) + "</artifactId>")
          && !pom.contains("<module>" + artifact.group(1) + "</module>")) {
        return "no artifact " + artifact.group(1);
      }
    }
    Matcher version = VERSION.matcher(text);
    while (version.find()) {
      if (!pom.contains("<version>" + version.group(1) + "</version>")) {
        return "the version is not " + version.group(1);
      }
    }
    return null;
  }

  @Test
  void everyBlockIsChecked() {
    List<String> problems = new ArrayList<>();
    for (Document page : Repository.documents()) {
      problems.addAll(page.problems);
      for (Block block : page.blocks) {
        String problem = problem(block);
        if (problem != null) {
          problems.add(block + ": " + problem);
        }
      }
    }
    assertThat(problems).isEmpty();
  }

  @Test
  void blockThatNothingChecks_isNoticed() {
    Document page =
        new Document(
            "planted.md",
            """
            ```
            anything
            ```
            <!-- checked by BlocksTest#noSuchTest -->
            ```ini
            a = b
            ```
            <!-- checked by BlocksTest#everyBlockIsChecked -->
            ```ini
            a = b
            ```
            ```xml
            <artifactId>fenceline-nothing</artifactId>
            ```
            - a list

              ```sh
              ./check
              ```

                an indented block

            ```text
            never closed
            """);
    assertThat(page.blocks.stream().map(BlocksTest::problem).map(String::valueOf))
        .satisfiesExactly(
            first -> assertThat(first).contains("nothing checks it"),
            second -> assertThat(second).contains("there is no BlocksTest#noSuchTest"),
            third -> assertThat(third).isEqualTo("null"),
            fourth -> assertThat(fourth).contains("no artifact fenceline-nothing"));
    assertThat(page.problems)
        .hasSize(4)
        .anyMatch(problem -> problem.contains("does not end"))
        .anyMatch(problem -> problem.contains("is indented"));
  }
}
