package io.fenceline.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Links lead somewhere: files, headings, and the tests that a page refers to. A link to a test has
 * the names of its methods as title. Addresses of other sites are only looked at: the build does
 * not depend on their being up.
 */
class LinksTest {
  private static final Pattern MEMBER = Pattern.compile("([A-Z]\\w+)#(\\w+)(?:\\(.*\\))?");

  static String problem(Document page, Link link) {
    if (link.isExternal()) {
      URI uri = URI.create(link.target());
      return uri.getHost() != null && (uri.getScheme().equals("https") || isPlain(uri))
          ? null
          : "not an https address";
    }
    String[] parts = link.target().split("#", 2);
    Path from = Repository.ROOT.resolve(page.path);
    Path file = parts[0].isEmpty() ? from : from.getParent().resolve(parts[0]).normalize();
    if (!file.startsWith(Repository.ROOT) || !Files.exists(file)) {
      return "there is no such file";
    }
    if (parts.length == 2) {
      Document target = parts[0].isEmpty() ? page : Repository.document(relative(file));
      if (!file.toString().endsWith(".md") || !target.anchors.contains(parts[1])) {
        return "there is no such heading";
      }
    }
    return testProblem(link, file);
  }

  /** Whether a site has no other address than one without TLS. */
  private static boolean isPlain(URI uri) {
    return uri.getHost().equals("antirez.com");
  }

  private static String relative(Path file) {
    return Repository.ROOT.relativize(file).toString();
  }

  private static String testProblem(Link link, Path file) {
    boolean isTest =
        file.toString().contains("src/test/java")
            || file.toString().matches(".*(Behaviour|Contract)\\.java");
    if (!isTest || !file.toString().endsWith(".java")) {
      return null;
    }
    if (link.title().isEmpty()) {
      return "names no test: [text](file \"method, method\")";
    }
    for (String method : link.title().split("\\s*,\\s*")) {
      if (!TestSources.hasTest(file, method)) {
        return "there is no test " + method + " in " + file.getFileName();
      }
    }
    return null;
  }

  private static List<String> problems(Document page) {
    List<String> problems = new ArrayList<>();
    for (Link link : page.links) {
      String problem = problem(page, link);
      if (problem != null) {
        problems.add(link + ": " + problem);
      }
    }
    for (String code : page.inlineCode) {
      Matcher member = MEMBER.matcher(code);
      if (member.matches() && !TestSources.hasMethod(member.group(1), member.group(2))) {
        problems.add(page + " `" + code + "`: there is no such method");
      }
    }
    return problems;
  }

  @Test
  void linksAnchorsAndTestReferences_areThere() {
    List<String> problems = new ArrayList<>();
    int links = 0;
    for (Document page : Repository.documents()) {
      problems.addAll(problems(page));
      links += page.links.size();
    }
    assertThat(problems).isEmpty();
    assertThat(links).isGreaterThan(15);
  }

  @Test
  void everyPageIsLinkedFromAnother() {
    Set<String> linked = new TreeSet<>();
    for (Document page : Repository.documents()) {
      for (Link link : page.links) {
        if (!link.isExternal()) {
          Path from = Repository.ROOT.resolve(page.path).getParent();
          linked.add(relative(from.resolve(link.target().replaceFirst("#.*", "")).normalize()));
        }
      }
    }
    assertThat(Repository.documents().stream().map(page -> page.path))
        .filteredOn(path -> !linked.contains(path))
        .isEmpty();
  }

  @Test
  void deadLinks_areNoticed() {
    Document page =
        new Document(
            "README.md",
            """
            # One heading
            [file](docs/none.md) [anchor](#no-heading) [right](#one-heading)
            [plain](http://example.org) [test](%s "noSuchTest") [untitled](%s) [out](../..)
            `LinksTest#nothing` `LinksTest#deadLinks_areNoticed`
            """
                .formatted(HERE, HERE));
    assertThat(problems(page)).hasSize(7);
  }

  private static final String HERE =
      "fenceline-docs/src/test/java/io/fenceline/docs/LinksTest.java";

  @Test
  void anchors_areThoseOfGitHub() {
    assertThat(Document.slug("What it is not, `first`")).isEqualTo("what-it-is-not-first");
    assertThat(Document.slug("先說限制：租約（lease）")).isEqualTo("先說限制租約lease");
  }
}
