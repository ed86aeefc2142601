package io.fenceline.bench.report;

import io.fenceline.bench.work.Crowd;
import io.fenceline.bench.work.Fleet;
import io.fenceline.bench.work.Holds;
import io.fenceline.bench.work.Names;
import io.fenceline.bench.work.Series;
import io.fenceline.bench.work.Turns;
import io.fenceline.bench.work.Waiters;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A run as plain maps and lists, for JSON. */
final class Figures {
  private Figures() {}

  static Map<String, Object> of(String label, String day, Machine machine, List<StoreReport> all) {
    Map<String, Object> run = new LinkedHashMap<>();
    run.put("effort", label);
    run.put("day", day);
    run.put("hardware", machine.hardware());
    run.put("system", machine.system());
    run.put("loadBefore", machine.loadBefore());
    run.put("versions", Machine.versions());
    run.put("stores", all.stream().map(Figures::of).toList());
    return run;
  }

  private static Map<String, Object> of(StoreReport report) {
    Map<String, Object> store = new LinkedHashMap<>();
    store.put("store", report.store());
    store.put("server", report.description());
    for (StoreReport.Rate rate : report.rates()) {
      store.put(rate.shape().name(), rate.series().stream().map(Figures::of).toList());
    }
    store.put("fleet", report.fleet().stream().map(Figures::of).toList());
    store.put("turns", report.turns().stream().map(Figures::of).toList());
    store.put("crowd", report.crowd().stream().map(Figures::of).toList());
    store.put("waiters", report.waiters().stream().map(Figures::of).toList());
    store.put("holds", report.holds().stream().map(Figures::of).toList());
    store.put("names", report.names().stream().map(Figures::of).toList());
    store.put("leftOut", report.leftOut());
    return store;
  }

  private static Map<String, Object> of(Series series) {
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("contender", series.entrant().id());
    figures.put("role", series.entrant().role().name());
    figures.put("median", series.median());
    figures.put("rounds", series.perSecond());
    figures.put("clientMicros", series.cpuMicros());
    figures.put("serverMicros", series.serverMicros());
    series.perCycle().forEach(sent -> figures.put(sent.kind(), sent.amount()));
    return figures;
  }

  private static Map<String, Object> of(Fleet.Result result) {
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("contender", result.entrant().id());
    figures.put("median", result.median());
    figures.put("rounds", result.perSecond());
    figures.put("shares", result.shares());
    figures.put("waitMillisP50", result.waits().millis(0.5));
    figures.put("waitMillisP99", result.waits().millis(0.99));
    figures.put("waitMillisMax", result.waits().maxMillis());
    figures.put("handOffMillisP50", result.handOffs().millis(0.5));
    figures.put("handOffMillisP99", result.handOffs().millis(0.99));
    return figures;
  }

  private static Map<String, Object> of(Turns.Table table) {
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("processes", table.crowd().processes());
    figures.put("stayMillis", table.crowd().stayMillis());
    figures.put("contenders", table.results().stream().map(Figures::of).toList());
    return figures;
  }

  private static Map<String, Object> of(Turns.Result result) {
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("contender", result.entrant().id());
    figures.put("median", result.median());
    figures.put("rounds", result.perSecond());
    figures.put("shares", result.shares());
    figures.put("waitMillisP50", result.waits().millis(0.5));
    figures.put("waitMillisP99", result.waits().millis(0.99));
    figures.put("handOverMillisP50", result.handOvers().millis(0.5));
    figures.put("handOverMillisP99", result.handOvers().millis(0.99));
    figures.put("clientMicros", result.clientMicros());
    figures.put("serverMicros", result.serverMicros());
    result.perHandOver().forEach(sent -> figures.put(sent.kind(), sent.amount()));
    return figures;
  }

  private static Map<String, Object> of(Crowd.Point point) {
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("clients", point.clients());
    figures.put("cyclesPerSecond", point.cyclesPerSecond());
    figures.put("handOverMillisP50", point.handOvers().millis(0.5));
    figures.put("handOverMillisP99", point.handOvers().millis(0.99));
    figures.put("clientMicros", point.clientMicros());
    figures.put("serverMicros", point.serverMicros());
    point.perHandOver().forEach(sent -> figures.put(sent.kind(), sent.amount()));
    figures.put("failures", point.failures());
    return figures;
  }

  private static Map<String, Object> of(Waiters.Point point) {
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("waiting", point.waiting());
    figures.put("handOffMicros", point.handOffMicros());
    figures.put("clientMicros", point.clientMicros());
    figures.put("serverMicros", point.serverMicros());
    figures.put("enqueueMicros", point.enqueueMicros());
    return figures;
  }

  private static Map<String, Object> of(Holds.Point point) {
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("held", point.held());
    figures.put("clientMicros", point.clientMicros());
    figures.put("serverMicros", point.serverMicros());
    point.perSecond().forEach(sent -> figures.put(sent.kind() + "PerSecond", sent.amount()));
    figures.put("clientBytes", point.clientBytes());
    figures.put("serverBytes", point.serverBytes());
    figures.put("cyclesPerSecond", point.cyclesPerSecond());
    figures.put("lost", point.lost());
    return figures;
  }

  private static Map<String, Object> of(Names.Point point) {
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("live", point.live());
    figures.put("cyclesPerSecond", point.cyclesPerSecond());
    figures.put("clientMicros", point.clientMicros());
    figures.put("serverMicros", point.serverMicros());
    figures.put("takeMicros", point.takeMicros());
    figures.put("serverBytes", point.serverBytes());
    return figures;
  }
}
