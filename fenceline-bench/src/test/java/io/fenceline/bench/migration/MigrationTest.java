package io.fenceline.bench.migration;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.testbed.server.PostgresServer;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testbed.server.ZooKeeperServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * That the programs of docs/migration.md work, are as the page shows them, and become no longer.
 */
class MigrationTest {
  private static final Path SOURCES = Path.of("src/test/java/io/fenceline/bench/migration");

  private final AtomicInteger worked = new AtomicInteger();

  @Test
  void redisson() throws Exception {
    try (RedisServer server = RedisServer.start()) {
      String address = "redis://" + server.address();
      WithRedisson.run(address, worked::incrementAndGet);
      AfterRedisson.run(address, worked::incrementAndGet);
    }
    assertThat(worked).hasValue(2);
  }

  @Test
  void curator() throws Exception {
    try (ZooKeeperServer server = ZooKeeperServer.start(Duration.ofSeconds(2))) {
      WithCurator.run(server.address(), worked::incrementAndGet);
      AfterCurator.run(server.address(), worked::incrementAndGet);
    }
    assertThat(worked).hasValue(2);
  }

  @Test
  void shedLock() throws Exception {
    try (PostgresServer server = PostgresServer.start()) {
      PGSimpleDataSource database = new PGSimpleDataSource();
      database.setUrl(server.jdbcUrl());
      database.setUser(server.user());
      database.setPassword(server.password());
      try (Connection connection = database.getConnection();
          Statement statement = connection.createStatement()) {
        statement.execute(
            "CREATE TABLE shedlock (name VARCHAR(64) PRIMARY KEY, lock_until TIMESTAMP NOT NULL,"
                + " locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL)");
      }
      for (int i = 0; i < 2; i++) { // The second time is too soon.
        WithShedLock.run(database, worked::incrementAndGet);
        AfterShedLock.run(database, worked::incrementAndGet);
      }
    }
    assertThat(worked).hasValue(2);
  }

  @Test
  void ownLock() throws Exception {
    try (RedisServer server = RedisServer.start()) {
      String address = "redis://" + server.address();
      WithOwnLock.run(address, worked::incrementAndGet);
      AfterOwnLock.run(address, worked::incrementAndGet);
    }
    assertThat(worked).hasValue(2);
  }

  /** What an instance does while others have the old lock only, or the new one only. */
  @Test
  void ownLockAndTheNewOne_doNotExcludeEachOther_andCanBothBeHeld() throws Exception {
    try (RedisServer server = RedisServer.start()) {
      String address = "redis://" + server.address();
      Runnable withTheNewOne =
          () -> {
            try {
              AfterOwnLock.run(address, worked::incrementAndGet);
            } catch (InterruptedException e) {
              throw new AssertionError(e);
            }
          };
      WithOwnLock.run(address, withTheNewOne);
    }
    assertThat(worked).hasValue(1);
  }

  private static List<String> program(String name) throws IOException {
    List<String> lines = Files.readAllLines(SOURCES.resolve(name + ".java"));
    return lines.subList(lines.indexOf("") + 1, lines.size());
  }

  @ParameterizedTest
  @ValueSource(strings = {"Redisson", "Curator", "ShedLock", "OwnLock"})
  void programs_areOnThePage_andAreNoLonger(String library) throws IOException {
    List<String> before = program("With" + library);
    List<String> after = program("After" + library);
    assertThat(after.size()).isLessThanOrEqualTo(before.size());
    for (String page : List.of("migration.md", "migration.zh-TW.md")) {
      assertThat(Files.readString(Path.of("../docs").resolve(page)))
          .contains("```text\n" + String.join("\n", before) + "\n```")
          .contains("```text\n" + String.join("\n", after) + "\n```");
    }
  }
}
