package io.fenceline.jdbc.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.jdbc.layout.Tables;
import java.lang.reflect.Field;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Statements are read when they are first run: none of them may be missing, or not understood. */
class StatementsTest {
  static Stream<Dialect> dialects() {
    return Stream.of(
        new SqliteDialect(), new PostgresDialect(), new MariaDbDialect(), new MySqlDialect());
  }

  private static List<Sql> all(Statements statements) throws Exception {
    List<Sql> all = new ArrayList<>();
    for (Field field : Statements.class.getFields()) {
      Object value = field.get(statements);
      if (value instanceof Sql sql) {
        all.add(sql);
      } else if (value instanceof Statements.Renewing renewing) {
        for (RecordComponent part : Statements.Renewing.class.getRecordComponents()) {
          if (part.getAccessor().invoke(renewing) instanceof Sql sql) {
            all.add(sql);
          }
        }
      }
    }
    return all;
  }

  @ParameterizedTest
  @MethodSource("dialects")
  void everyStatementIsThere_withoutCommentsPlaceholdersAndNames(Dialect dialect) throws Exception {
    List<Sql> all = all(new Statements(dialect, Tables.DEFAULT));

    assertThat(all).hasSizeGreaterThan(30);
    for (Sql sql : all) {
      for (int length : new int[] {1, 3}) {
        String text = sql.form(length).text();
        assertThat(text).as("%s of %s", sql, dialect.title()).isNotBlank();
        assertThat(text).doesNotContainPattern("--|\\{[a-z_]+}|(?<!:):[a-z_]");
      }
    }
  }

  @Test
  void parametersAreCountedFromOne_andAListHasItsPlaces() {
    Sql.Form numbered = Sql.read("sqlite", "renew", words(new SqliteDialect()), true).form(3);
    numbered.places().forEach((name, places) -> assertThat(places).as(name).isNotEmpty());
    assertThat(numbered.text()).contains("?1").doesNotContain("...");
  }

  @Test
  void aWordThatNobodyHasGiven_isAnError() {
    Sql sql = Sql.read("sqlite", "claim", Map.of(), true);
    assertThatThrownBy(() -> sql.form(1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("claim.sql: what is {");
  }

  private static Map<String, String> words(Dialect dialect) {
    return dialect.words(Tables.DEFAULT);
  }
}
