/** Meters and observations of locks; start at {@link io.fenceline.micrometer.FencelineMetrics}. */
module io.fenceline.micrometer {
  requires transitive io.fenceline;
  requires transitive micrometer.core;
  requires transitive micrometer.observation;
  requires micrometer.commons;
  requires static org.jspecify;

  exports io.fenceline.micrometer;
}
