package io.fenceline.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.diagnosis.Certainty;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.settings.Durations;
import io.fenceline.spi.StoreKind;
import io.fenceline.spi.StoreProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Tables about stores say what the stores themselves declare.
 *
 * <p>A table marked {@code stores} has the URI in its second column, then class, shortest lease,
 * whether it is fair, and whether tokens survive a wipe. One marked {@code declared} has the URI in
 * its first, and then a column for each {@link Guarantee} named in its head.
 */
class StoreTablesTest {
  private static final Pattern SCHEME = Pattern.compile("`((?:jdbc:)?[a-z-]+):");
  private static final List<String> YES = List.of("yes", "是");
  private static final List<String> BY_ITS_SETTINGS = List.of("by its settings", "看設定");

  private static List<StoreKind> kinds() {
    List<StoreKind> kinds = new ArrayList<>();
    ServiceLoader.load(StoreProvider.class).forEach(provider -> kinds.addAll(provider.kinds()));
    return kinds;
  }

  private static String yesOrNo(String cell) {
    return YES.contains(cell) ? "yes" : "no";
  }

  private static List<String> schemes(String cell) {
    List<String> schemes = new ArrayList<>();
    Matcher matcher = SCHEME.matcher(cell);
    while (matcher.find()) {
      schemes.add(matcher.group(1));
    }
    return schemes;
  }

  private static StoreKind kindOf(String cell) {
    String scheme = schemes(cell).get(0);
    return kinds().stream()
        .filter(kind -> kind.addresses().stream().anyMatch(uri -> uri.startsWith(scheme + ":")))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no store declares " + scheme));
  }

  private static void assertComplete(Table table, int column, Document page) {
    TreeSet<String> said = new TreeSet<>();
    table.rows().stream().skip(1).forEach(row -> said.addAll(schemes(row.get(column))));
    TreeSet<String> declared = new TreeSet<>();
    for (StoreKind kind : kinds()) {
      kind.addresses().forEach(uri -> declared.addAll(schemes("`" + uri)));
    }
    assertThat(said)
        .as(
            "%s:%d: each store that declares itself has a row, here and in its twin",
            page, table.line())
        .isEqualTo(declared);
  }

  @Test
  void storesInTheReadme_areAsDeclared() {
    for (String path : List.of("README.md", "README.zh-TW.md")) {
      Document page = Repository.document(path);
      Table table = page.table("stores");
      assertComplete(table, 1, page);
      for (List<String> row : table.rows().subList(1, table.rows().size())) {
        StoreKind kind = kindOf(row.get(1));
        assertThat(List.of(row.get(2), row.get(3), yesOrNo(row.get(4)), yesOrNo(row.get(5))))
            .as("%s: %s", path, row)
            .containsExactly(
                kind.consistency().toString(),
                Durations.show(kind.guarantees().leases().shortest()),
                kind.guarantees().gives(Guarantee.FAIR) ? "yes" : "no",
                kind.guarantees().gives(Guarantee.TOKENS_SURVIVE_WIPE) ? "yes" : "no");
      }
    }
  }

  @Test
  void guaranteesThatPagesShow_areAsDeclared() {
    int tables = 0;
    for (Document page : Repository.documents()) {
      for (Table table : page.tables) {
        if (table.marker().equals("declared")) {
          tables++;
          assertComplete(table, 0, page);
          assertDeclared(page, table);
        }
      }
    }
    assertThat(tables).isPositive();
  }

  private static void assertDeclared(Document page, Table table) {
    List<String> head = table.rows().get(0);
    assertThat(head.subList(1, head.size()))
        .containsExactly(
            java.util.Arrays.stream(Guarantee.values())
                .map(guarantee -> "`" + guarantee + "`")
                .toArray(String[]::new));
    for (List<String> row : table.rows().subList(1, table.rows().size())) {
      StoreKind kind = kindOf(row.get(0));
      for (Guarantee guarantee : Guarantee.values()) {
        assertThat(YES.contains(row.get(1 + guarantee.ordinal())))
            .as("%s:%d %s gives %s", page, table.line(), row.get(0), guarantee)
            .isEqualTo(kind.guarantees().gives(guarantee));
      }
      assertThat(BY_ITS_SETTINGS.contains(row.get(1 + Guarantee.DURABLE.ordinal())))
          .as("%s:%d %s: durable depends on its settings", page, table.line(), row.get(0))
          .isEqualTo(kind.guarantees().durable() == Certainty.UNKNOWN);
    }
  }
}
