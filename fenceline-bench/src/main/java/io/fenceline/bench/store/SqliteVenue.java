package io.fenceline.bench.store;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A file. */
final class SqliteVenue implements Venue {
  private final Path folder;

  SqliteVenue() {
    try {
      this.folder = Files.createTempDirectory("fenceline-bench");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public String address() {
    return "sqlite:" + folder.resolve("locks.db");
  }

  @Override
  public String description() {
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite::memory:");
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT sqlite_version()")) {
      return "SQLite " + row.getString(1) + ", one file, WAL, synchronous=NORMAL";
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public Wire count() {
    return List::of;
  }

  @Override
  public long memoryBytes() {
    try (Stream<Path> files = Files.list(folder)) {
      return files.mapToLong(file -> file.toFile().length()).sum();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public long cpuNanos() {
    return 0;
  }

  @Override
  public void close() {
    try (Stream<Path> files = Files.walk(folder)) {
      files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
