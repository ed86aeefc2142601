/**
 * Locks in Redis: single server, Sentinel, Cluster, Redlock; start at {@link
 * io.fenceline.redis.RedisStores}.
 */
module io.fenceline.redis {
  requires transitive io.fenceline;
  requires transitive lettuce.core;
  requires org.slf4j;
  requires static org.jspecify;
  requires io.netty.buffer;

  // Lettuce does not say that it needs these: it has no module descriptor.
  requires io.netty.common;
  requires io.netty.handler;
  requires io.netty.resolver.dns;
  requires io.netty.transport;
  requires io.netty.transport.classes.epoll;

  exports io.fenceline.redis;

  provides io.fenceline.spi.StoreProvider with
      io.fenceline.redis.RedisProvider;
}
