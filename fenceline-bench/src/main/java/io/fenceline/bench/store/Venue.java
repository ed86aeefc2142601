package io.fenceline.bench.store;

import java.util.List;

/** A server that all contenders of a store share, started for this run. */
public interface Venue extends AutoCloseable {

  /** The stores that there are venues of, in the order of the report. */
  List<String> ALL =
      List.of("redis", "zookeeper", "etcd", "postgresql", "mariadb", "sqlite", "memory");

  /** Those that are measured only when they are named: the report does not have them. */
  List<String> BY_NAME = List.of("mysql");

  /** Starts the server of a store. */
  static Venue start(String store) {
    return switch (store) {
      case "redis" -> new RedisVenue();
      case "zookeeper" -> new ZooKeeperVenue();
      case "etcd" -> new EtcdVenue();
      case "postgresql" -> new PostgresVenue();
      case "mariadb" -> InnoDbVenue.mariaDb();
      case "mysql" -> InnoDbVenue.mySql();
      case "sqlite" -> new SqliteVenue();
      case "memory" -> new MemoryVenue();
      default -> throw new IllegalArgumentException("no such store: " + store);
    };
  }

  /** Where it is, for Fenceline; the other contenders derive theirs from it. */
  String address();

  /** What runs there, with its version and what matters of its settings. */
  String description();

  /** Starts to count what comes over the wire. */
  Wire count();

  /** Memory of the server, in bytes; 0 where it can't be told. */
  long memoryBytes();

  /** CPU time that the server has used; 0 where there is none. */
  long cpuNanos();

  @Override
  void close();

  /** A count that is under way. */
  interface Wire {
    /**
     * How much came over the wire, by kind, such as {@code commands}; empty if it can't be told.
     */
    List<Count> stop();
  }

  /**
   * One figure of a count.
   *
   * @param kind of what
   * @param total how many
   */
  record Count(String kind, long total) {}
}
