package io.fenceline.jdbc.schema;

import io.fenceline.Fenceline;
import io.fenceline.jdbc.Database;
import io.fenceline.jdbc.JdbcFence;
import io.fenceline.jdbc.Urls;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testbed.server.MySqlServer;
import io.fenceline.testbed.server.PostgresServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Accounts with exactly the rights that docs/least-rights.md grants, by its own statements. */
public final class LeastRights {
  private static final Path PAGE = Path.of("../docs/least-rights.md");
  private static final Pattern BLOCK = Pattern.compile("(?s)```sql\\n(.*?)```");

  private LeastRights() {}

  /** The statements of a section. */
  static List<String> statements(String section) {
    try {
      String page = Files.readString(PAGE);
      int start = page.indexOf("\n## " + section + "\n");
      int end = page.indexOf("\n## ", start + 1);
      Matcher block = BLOCK.matcher(page.substring(start, end));
      List<String> found = new ArrayList<>();
      while (block.find()) {
        for (String statement : block.group(1).replaceAll("(?m)--.*$", "").split(";")) {
          if (!statement.isBlank()) {
            found.add(statement.strip().replaceAll("\\s+", " "));
          }
        }
      }
      return found;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Makes the tables and the account; returns its address. */
  public static String in(PostgresServer server) {
    server.sql("REVOKE ALL ON DATABASE " + server.database() + " FROM PUBLIC");
    boolean hasTables = false;
    for (String statement : statements("PostgreSQL")) {
      if (statement.startsWith("GRANT") && !hasTables) {
        tables(Urls.of(server) + "&currentSchema=fenceline");
        server.sql(JdbcFence.create().inSchema("fenceline").schema(Database.POSTGRESQL));
        hasTables = true;
      }
      server.sql(statement.replace("DATABASE shop", "DATABASE " + server.database()));
    }
    return server.jdbcUrl() + "?user=app&password=secret&currentSchema=fenceline";
  }

  public static String in(MariaDbServer server) {
    inDatabase(server::sql, Urls.of(server), Database.MARIADB);
    return server.jdbcUrl().replaceFirst("/fenceline$", "/locks") + "?user=app&password=secret";
  }

  public static String in(MySqlServer server) {
    inDatabase(server::sql, Urls.of(server), Database.MYSQL);
    return Urls.withKey(
        server.jdbcUrl().replaceFirst("/fenceline$", "/locks") + "?user=app&password=secret");
  }

  private static void inDatabase(Consumer<String> sql, String url, Database database) {
    boolean hasTables = false;
    for (String statement : statements(database.dialect().title())) {
      if (statement.startsWith("GRANT") && !hasTables) {
        tables(url.replaceFirst("/fenceline\\?", "/locks?"));
        sql.accept(JdbcFence.create().inSchema("locks").schema(database));
        hasTables = true;
      }
      sql.accept(statement);
    }
  }

  /** Whoever may create tables does so by connecting once. */
  private static void tables(String url) {
    Fenceline.connect(url).close();
  }
}
