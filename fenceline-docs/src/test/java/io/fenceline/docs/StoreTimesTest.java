package io.fenceline.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The times of stores on the page that compares them are those of the benchmarks, so that a new
 * measurement does not leave old figures behind.
 */
class StoreTimesTest {
  private static final MathContext TWO_DIGITS = new MathContext(2);

  /** The time of one solo cycle in the first section of a store: from how many there were. */
  private static String measured(String benchmarks, String store) {
    Matcher cycles =
        Pattern.compile(
                "(?s)\n## %s\n(?:(?!\n## ).)*?\n\\| solo: .*?\n\\| Fenceline \\| ([0-9,]+) \\|"
                    .formatted(store.toLowerCase(Locale.ROOT)))
            .matcher(benchmarks);
    assertThat(cycles.find()).as("solo figures of " + store).isTrue();
    BigDecimal aSecond = new BigDecimal(cycles.group(1).replace(",", ""));
    return BigDecimal.valueOf(1000).divide(aSecond, TWO_DIGITS).toPlainString() + " ms";
  }

  @Test
  void timesAreThoseOfTheBenchmarks() {
    String benchmarks = Repository.read(Repository.ROOT.resolve("docs/benchmarks.md"));
    for (String page : List.of("docs/choosing-a-store.md", "docs/choosing-a-store.zh-TW.md")) {
      List<List<String>> rows = Repository.document(page).table("times").rows();
      assertThat(rows).as(page).hasSize(6);
      for (List<String> row : rows.subList(1, rows.size())) {
        assertThat(row.get(1)).as(page + " " + row).isEqualTo(measured(benchmarks, row.get(0)));
      }
    }
  }

  @Test
  void otherFigure_isNoticed() {
    String benchmarks =
        "\n## redis\nRedis, one server\n| solo: one thread | x |\n| --- |\n| Fenceline | 4,262 | |\n";
    assertThat(measured(benchmarks, "Redis")).isEqualTo("0.23 ms");
    assertThat(measured(benchmarks.replace("4,262", "862"), "Redis")).isEqualTo("1.2 ms");
  }
}
