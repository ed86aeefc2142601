package io.fenceline.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * In the tables of what holds under which fault (marked {@code faults}), each cell that claims
 * something is linked to the test that shows it, or to what the store declares. That the tests are
 * there is checked by {@link LinksTest}.
 */
class FaultTablesTest {
  private static final String NOTHING = "·";

  private static List<String> problems(Document page, Table table) {
    List<String> problems = new ArrayList<>();
    for (List<String> row : table.rows().subList(1, table.rows().size())) {
      for (String cell : row.subList(1, row.size())) {
        Link link = page.linkIn(cell);
        boolean isShown = link != null && !link.title().isEmpty();
        boolean isDeclared = link != null && link.target().startsWith("#");
        if (!cell.equals(NOTHING) && !isShown && !isDeclared) {
          problems.add(page + ":" + table.line() + " nothing shows '" + cell + "' of " + row);
        }
      }
    }
    return problems;
  }

  @Test
  void everyClaimIsLinkedToWhatShowsIt() {
    List<String> problems = new ArrayList<>();
    int tables = 0;
    for (Document page : Repository.documents()) {
      for (Table table : page.tables) {
        if (table.marker().equals("faults")) {
          tables++;
          problems.addAll(problems(page, table));
        }
      }
    }
    assertThat(problems).isEmpty();
    assertThat(tables).isGreaterThanOrEqualTo(10);
  }

  @Test
  void claimWithoutATest_isNoticed() {
    Document page =
        new Document(
            "a.md",
            "<!-- faults -->\n| fault | I1 | I2 |\n| --- | --- | --- |\n| x | holds | · |\n");
    assertThat(problems(page, page.tables.get(0))).hasSize(1);
  }
}
