package io.fenceline.jdbc.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.jdbc.layout.Micros;
import io.fenceline.jdbc.layout.Tables;
import io.fenceline.spi.GrantNumbers;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each dialect counts by the clock as {@link GrantNumbers} does; names may move between stores. */
class NumberFormulaTest {
  private static final long[] TIMES = {
    0,
    GrantNumbers.EPOCH_MILLIS * 1_000,
    GrantNumbers.EPOCH_MILLIS * 1_000 + 124,
    GrantNumbers.EPOCH_MILLIS * 1_000 + 125,
    1_800_000_000_000_000L,
    1_800_000_000_000_999L,
    3_911_000_000_123_456L
  };

  private static Stream<Dialect> dialects() {
    return Stream.of(
        new PostgresDialect(), new MariaDbDialect(), new MySqlDialect(), new SqliteDialect());
  }

  @ParameterizedTest
  @MethodSource("dialects")
  void clockNumber_isThatOfEveryStore(Dialect dialect) throws SQLException {
    Map<String, String> words = dialect.words(Tables.DEFAULT);
    for (long micros : TIMES) {
      long number = evaluated(words.get("clock_number"), words, micros);
      assertThat(number).as(dialect + " at " + micros).isEqualTo(Micros.clockNumber(micros));
    }
  }

  @ParameterizedTest
  @MethodSource("dialects")
  void wholeMilliseconds_giveTheNumberOfTheOtherStores(Dialect dialect) throws SQLException {
    Map<String, String> words = dialect.words(Tables.DEFAULT);
    for (long micros : TIMES) {
      long millis = micros / 1_000;
      assertThat(evaluated(words.get("clock_number"), words, millis * 1_000))
          .isEqualTo(GrantNumbers.atMillis(millis));
    }
  }

  /** The statement that SQLite takes a free name with has the formula once more. */
  @ParameterizedTest
  @MethodSource("dialects")
  void statementsThatCountByThemselves_countAlike(Dialect dialect) throws SQLException {
    Map<String, String> words = dialect.words(Tables.DEFAULT);
    if (!(dialect instanceof SqliteDialect)) {
      return;
    }
    Matcher formulas =
        Pattern.compile("\\(:now - \\{epoch}\\) \\* 2 / 125")
            .matcher(Sql.template("sqlite", "claim-uncontended"));
    int found = 0;
    while (formulas.find()) {
      found++;
      assertThat(evaluated(formulas.group(), words, TIMES[5]))
          .isEqualTo(Micros.clockNumber(TIMES[5]));
    }
    assertThat(found).isEqualTo(2);
  }

  /** What a database makes of it; all of them divide whole numbers alike. */
  private static long evaluated(String formula, Map<String, String> words, long micros)
      throws SQLException {
    String sql =
        formula
            .replace("{now}", Long.toString(micros))
            .replace(":now", Long.toString(micros))
            .replace("{epoch}", words.get("epoch"))
            .replace("GREATEST", "max")
            .replace("DIV", "/");
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite::memory:");
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT " + sql)) {
      row.next();
      return row.getLong(1);
    }
  }
}
