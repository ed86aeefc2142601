package io.fenceline.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * A page in two languages says the same in both: the same sections, tables, code, commands, inline
 * code and links, in the same order. Links of a translated page may lead to translated pages.
 */
class TwinsTest {
  private static final String SUFFIX = ".zh-TW.md";

  /** Characters that only the other script has, of the words that these pages would use. */
  private static final Pattern SIMPLIFIED = Pattern.compile("[锁约续释设实现发务错误线级权选择达们这进过时间问题难数据库应该]");

  private static final Set<String> MUST_BE_TRANSLATED =
      Set.of(
          "README.md",
          "docs/README.md",
          "docs/architecture.md",
          "docs/glossary.md",
          "docs/guarantees.md",
          "docs/choosing-a-store.md",
          "docs/choosing-a-lease.md",
          "docs/cli.md",
          "docs/sql.md",
          "docs/recipes-cache.md",
          "docs/recipes-election.md",
          "docs/recipes-once.md",
          "docs/recipes-ratelimit.md",
          "docs/recipes-striped.md",
          "docs/testing.md",
          "docs/transactions.md",
          "docs/questions.md",
          "docs/using.md",
          "docs/redis.md",
          "docs/zookeeper.md",
          "docs/etcd.md",
          "docs/settings.md",
          "docs/migration.md",
          "docs/redlock.md",
          "docs/why.md",
          "examples/README.md");

  private static List<String> differences(Document english, Document translated) {
    List<String> found = new ArrayList<>();
    compare(found, "levels of headings", levels(english), levels(translated));
    compare(found, "blocks", blocks(english), blocks(translated));
    compare(found, "shapes of tables", shapes(english), shapes(translated));
    compare(found, "inline code", english.inlineCode, translated.inlineCode);
    compare(found, "links", targets(english), targets(translated));
    return found;
  }

  private static void compare(List<String> found, String what, Object english, Object translated) {
    if (!english.equals(translated)) {
      found.add(what + " differ:\n  " + english + "\n  " + translated);
    }
  }

  private static List<Integer> levels(Document page) {
    return page.headings.stream().map(Document.Heading::level).toList();
  }

  private static List<String> blocks(Document page) {
    return page.blocks.stream()
        .filter(block -> !block.marker().equals("drawing"))
        .map(block -> block.language() + " [" + block.marker() + "]\n" + block.text())
        .toList();
  }

  private static List<String> shapes(Document page) {
    return page.tables.stream()
        .map(
            table ->
                table.marker()
                    + table.rows().stream()
                        .map(List::size)
                        .map(String::valueOf)
                        .collect(Collectors.joining(",")))
        .toList();
  }

  private static Set<String> targets(Document page) {
    Set<String> targets = new TreeSet<>();
    for (Link link : page.links) {
      // Headings have other names in another language; that they are there is checked elsewhere.
      String target = link.target().replace(SUFFIX, ".md").replaceFirst("#.*", "#");
      boolean isTwin =
          target.equals(Path.of(page.path.replace(SUFFIX, ".md")).getFileName().toString());
      if (!isTwin) {
        targets.add(target + " " + link.title());
      }
    }
    return targets;
  }

  private static List<Document> translated() {
    return Repository.documents().stream().filter(page -> page.path.endsWith(SUFFIX)).toList();
  }

  @Test
  void pagesInTwoLanguages_sayTheSame() {
    List<String> problems = new ArrayList<>();
    for (Document page : translated()) {
      String english = page.path.replace(SUFFIX, ".md");
      if (!Files.exists(Repository.ROOT.resolve(english))) {
        problems.add(page + " is a translation of nothing");
        continue;
      }
      for (String difference : differences(Repository.document(english), page)) {
        problems.add(english + " and " + page + ": " + difference);
      }
    }
    assertThat(problems).isEmpty();
  }

  @Test
  void pagesThatMustBeTranslated_are() {
    assertThat(translated().stream().map(page -> page.path.replace(SUFFIX, ".md")))
        .containsAll(MUST_BE_TRANSLATED);
  }

  @Test
  void translations_areInTraditionalCharacters() {
    List<String> problems = new ArrayList<>();
    for (Document page : translated()) {
      String text = Repository.read(Repository.ROOT.resolve(page.path));
      SIMPLIFIED.matcher(text).results().forEach(hit -> problems.add(page + ": " + hit.group()));
    }
    assertThat(problems).isEmpty();
  }

  @Test
  void differences_areNoticed() {
    Document english =
        new Document("a.md", "# A\n## B\n`x`\n```sh\n./check\n```\n| a | b |\n| c | d |\n");
    Document translated =
        new Document(
            "a.zh-TW.md", "# A\n### B\n`y`\n```sh\n./check -x\n```\n| a |\n| c |\n[l](b)\n");
    assertThat(differences(english, english)).isEmpty();
    assertThat(differences(english, translated)).hasSize(5);
  }
}
