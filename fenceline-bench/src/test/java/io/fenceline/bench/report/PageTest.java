package io.fenceline.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.bench.work.Effort;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** That a run of a part gets into the page of a whole run, and stays there. */
class PageTest {
  private static final String COMMAND = "./bench mariadb mysql --works=solo,spread --add";

  @TempDir Path folder;

  private final Page page = new Page(Effort.SMOKE, Machine.now());

  private static StoreReport report(String store, String description) {
    return new StoreReport(
        store,
        description,
        List.of(),
        List.of(),
        List.of(),
        List.of(),
        List.of(),
        List.of(),
        List.of(),
        List.of("nothing was measured"));
  }

  private String written() throws IOException {
    return Files.readString(folder.resolve("benchmarks.md"));
  }

  @Test
  void partOfAStore_isAddedOnce_andSurvivesAWholeRun() throws IOException {
    page.write(folder, List.of(report("redis", "Redis 1")));
    String whole = written();

    page.add(folder, COMMAND, List.of(report("mariadb", "MariaDB 1"), report("mysql", "MySQL 1")));
    page.add(folder, "./bench etcd --add", List.of(report("etcd", "etcd 1")));
    page.add(folder, COMMAND, List.of(report("mariadb", "MariaDB 2"), report("mysql", "MySQL 2")));

    assertThat(written())
        .startsWith(whole)
        .containsOnlyOnce("## On their own: mariadb, mysql")
        .containsOnlyOnce("Measured by `" + COMMAND + "`")
        .contains("### mysql, on its own\n\nMySQL 2.\n", "etcd 1")
        .doesNotContain("MySQL 1");
    assertThat(folder.resolve("benchmarks/mariadb-mysql-solo-spread.json"))
        .content()
        .contains("MySQL 2", "\"store\":\"mariadb\"");

    page.write(folder, List.of(report("redis", "Redis 2")));

    assertThat(written())
        .contains("Redis 2", "MariaDB 2", "MySQL 2", "etcd 1")
        .doesNotContain("Redis 1");
  }

  /** The option --processes makes another effort of it, but no less thorough a one. */
  @Test
  void partWithFewerProcesses_isWarnedOfForTheLoadOnly() throws IOException {
    Effort fewer = Effort.FULL.with(List.of(2));
    page.write(folder, List.of(report("redis", "Redis 1")));

    new Page(fewer, new Machine("2 cores", "system", 0.9))
        .add(folder, "./bench quiet", List.of(report("etcd", "etcd 1")));
    new Page(fewer, new Machine("2 cores", "system", 2.5))
        .add(folder, "./bench busy", List.of(report("etcd", "etcd 1")));

    String added = written().substring(written().indexOf("part of: ./bench quiet"));
    assertThat(added)
        .containsOnlyOnce("Not for comparison")
        .contains("a load average of 2.5 before it began");
  }
}
