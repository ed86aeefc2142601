/**
 * What is built on a lock, built once: {@link io.fenceline.recipes.election.Election} elects a
 * leader, {@link io.fenceline.recipes.once.Once} does a piece of work once, {@link
 * io.fenceline.recipes.ratelimit.RateLimit} limits a rate, {@link
 * io.fenceline.recipes.striped.StripedLocks} has few locks for many keys, {@link
 * io.fenceline.recipes.cache.LoadOnceCache} loads a value once for all processes.
 */
module io.fenceline.recipes {
  requires transitive io.fenceline;
  requires transitive java.sql;
  requires org.slf4j;
  requires static org.jspecify;
  requires static com.google.errorprone.annotations;
  requires static com.github.benmanes.caffeine;
  requires static transitive lettuce.core;

  exports io.fenceline.recipes.cache;
  exports io.fenceline.recipes.election;
  exports io.fenceline.recipes.once;
  exports io.fenceline.recipes.ratelimit;
  exports io.fenceline.recipes.striped;
}
