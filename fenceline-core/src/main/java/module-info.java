/**
 * Distributed locks whose holds carry fencing tokens: the API, the client runtime, and the memory
 * store. Stores are separate modules that provide {@link io.fenceline.spi.StoreProvider}.
 */
module io.fenceline {
  requires org.slf4j;
  requires static org.jspecify;
  requires static jdk.jfr;
  requires static com.google.errorprone.annotations;

  exports io.fenceline;
  exports io.fenceline.diagnosis;
  exports io.fenceline.event;
  exports io.fenceline.fence;
  exports io.fenceline.memory;
  exports io.fenceline.metrics;
  exports io.fenceline.settings;
  exports io.fenceline.spi;
  exports io.fenceline.time;

  uses io.fenceline.spi.StoreProvider;

  provides io.fenceline.spi.StoreProvider with
      io.fenceline.memory.MemoryProvider;
}
