package io.fenceline.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.bench.contender.Entrant;
import io.fenceline.bench.contender.Entrants;
import io.fenceline.bench.report.Machine;
import io.fenceline.bench.report.Page;
import io.fenceline.bench.report.StoreReport;
import io.fenceline.bench.work.Crowd;
import io.fenceline.bench.work.Effort;
import io.fenceline.bench.work.Fleet;
import io.fenceline.bench.work.Series;
import io.fenceline.bench.work.Turns;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** That the benchmarks still run: one very short round of each; how fast it is does not matter. */
class BenchTest {
  private static final List<String> WITHOUT_FLEET =
      List.of("solo", "hot", "waiters", "holds", "names");

  /** All of them with {@code -Dfenceline.bench.all=true}, as {@code ./check --long} does. */
  static Stream<String> stores() {
    Stream<String> quick = Stream.of("redis", "sqlite", "memory");
    return Boolean.getBoolean("fenceline.bench.all")
        ? Stream.concat(quick, Stream.of("zookeeper", "etcd", "postgresql", "mariadb", "mysql"))
        : quick;
  }

  @ParameterizedTest
  @MethodSource("stores")
  void everyContenderOfAStore_takesPart(String store) throws Exception {
    StoreReport report = measure(store, List.of(), WITHOUT_FLEET);

    TreeSet<String> seen = new TreeSet<>(List.of("ring")); // Processes only: see below.
    for (StoreReport.Rate rate : report.rates()) {
      for (Series series : rate.series()) {
        seen.add(series.entrant().id());
      }
    }
    if (store.equals("memory")) {
      seen.remove("ring");
    }
    List<String> all = Entrants.of(store).stream().map(Entrant::id).sorted().toList();
    assertThat(seen).containsExactlyElementsOf(all);
    if (!store.equals("memory")) {
      assertThat(report.waiters()).hasSize(2).allMatch(point -> point.handOffMicros() > 0);
      assertThat(report.holds()).hasSize(1).allMatch(point -> point.cyclesPerSecond() > 0);
      assertThat(report.names()).hasSize(2).allMatch(point -> point.cyclesPerSecond() > 0);
      assertThat(report.leftOut()).isEmpty();
    }
  }

  @Test
  void processesOfAFleet_shareTheLock_andTheReportIsWritten(@TempDir Path folder) throws Exception {
    StoreReport report = measure("sqlite", List.of("none"), List.of("fleet"));

    assertThat(report.fleet()).hasSize(1);
    Fleet.Result fleet = report.fleet().get(0);
    assertThat(fleet.median()).isPositive();
    assertThat(fleet.shares()).hasSize(Fleet.PROCESSES);
    assertThat(fleet.waits().count()).isPositive();

    new Page(Effort.SMOKE, Machine.now()).write(folder, List.of(report));
    assertThat(Files.readString(folder.resolve("benchmarks.md")))
        .contains("Not for comparison", "| Fenceline |");
    assertThat(Files.readString(folder.resolve("benchmarks/figures.json")))
        .contains("\"contender\":\"fenceline\"");
  }

  /** All stores with {@code -Dfenceline.bench.all=true}. */
  static Stream<String> shared() {
    Stream<String> quick = Stream.of("sqlite");
    return Boolean.getBoolean("fenceline.bench.all")
        ? Stream.concat(quick, Stream.of("redis", "zookeeper", "etcd", "postgresql", "mariadb"))
        : quick;
  }

  @ParameterizedTest
  @MethodSource("shared")
  void processesTakeTurns_withAndWithoutALock(String store) throws Exception {
    StoreReport report = measure(store, List.of("ring"), List.of("turns"));

    assertThat(report.turns()).hasSize(3); // 0, 1 and 10 ms inside.
    for (Turns.Table table : report.turns()) {
      assertThat(table.results())
          .extracting(result -> result.entrant().id())
          .containsExactly("fenceline", "ring");
      assertThat(table.results())
          .allMatch(result -> result.median() > 0 && result.shares().size() == 2);
    }
    assertThat(report.tables()).hasSize(3);
  }

  @ParameterizedTest
  @MethodSource("shared")
  void clientsOfACrowd_areServedOneAfterTheOther(String store) throws Exception {
    StoreReport report = measure(store, List.of("none"), List.of("crowd"));

    assertThat(report.crowd()).extracting(Crowd.Point::clients).containsExactly(2, 5);
    assertThat(report.crowd())
        .allMatch(point -> point.handOvers().count() > 0 && point.failures() == 0);
    assertThat(report.crowdGrowth(2, 5)).hasValueSatisfying(g -> assertThat(g).isPositive());
    assertThat(report.tables()).hasSize(1);
  }

  private static StoreReport measure(String store, List<String> contenders, List<String> works)
      throws Exception {
    return Bench.measure(
        store, new Arguments(List.of(store), Effort.SMOKE, contenders, works, false));
  }
}
