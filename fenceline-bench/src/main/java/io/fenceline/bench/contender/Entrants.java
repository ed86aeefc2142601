package io.fenceline.bench.contender;

import io.fenceline.bench.contender.Entrant.Discipline;
import io.fenceline.bench.contender.Entrant.Opener;
import io.fenceline.bench.contender.Entrant.Role;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/** All contenders, by store. */
public final class Entrants {
  private static final Set<Discipline> ALL = EnumSet.allOf(Discipline.class);
  private static final Set<Discipline> ALONE = EnumSet.of(Discipline.ALONE);
  private static final Set<Discipline> HOT = EnumSet.of(Discipline.HOT);
  private static final Set<Discipline> TURNS = EnumSet.of(Discipline.TURNS);

  private Entrants() {}

  /** The contenders of a store, Fenceline first. */
  public static List<Entrant> of(String store) {
    return switch (store) {
      case "memory" -> List.of(ours(HOT), fair(), unfair());
      case "redis" ->
          List.of(
              ours(ALL),
              floor("bare scripts", RedisFloor::withScript),
              bare("SET NX PX", RedisFloor::withSet),
              ring("list, script", RedisRing::new),
              peer("rlock", "Redisson RLock", ALL, RedissonLocks::plain),
              peer("fenced", "Redisson RFencedLock", ALL, RedissonLocks::fenced),
              peer("rfair", "Redisson RFairLock", ALL, RedissonLocks::fair),
              peer("spring", "Spring RedisLockRegistry", ALL, SpringRedisLocks::new),
              fair(),
              unfair());
      case "postgresql" ->
          List.of(
              ours(ALL),
              floor("bare statements", PostgresFloor::new),
              ring("NOTIFY, update", PostgresRing::new),
              peer("shedlock", "ShedLock JdbcTemplate", ALONE, ShedLocks::usual),
              peer("shedlock-plain", "ShedLock JDBC", ALONE, ShedLocks::plain),
              peer("spring", "Spring JdbcLockRegistry", ALL, SpringJdbcLocks::new),
              peer("advisory", "session advisory locks", ALL, AdvisoryLocks::new),
              fair(),
              unfair());
      case "mariadb", "mysql" ->
          List.of(
              ours(ALL),
              floor("bare statements", InnoDbFloor::new),
              ring("GET_LOCK, update", MariaDbRing::new),
              peer("shedlock", "ShedLock JdbcTemplate", ALONE, ShedLocks::usual),
              peer("shedlock-plain", "ShedLock JDBC", ALONE, ShedLocks::plain),
              fair(),
              unfair());
      case "sqlite" ->
          List.of(
              ours(ALL),
              floor("bare transactions", SqliteFloor::new),
              ring("socket, transaction", SqliteRing::new),
              fair(),
              unfair());
      case "zookeeper" ->
          List.of(
              ours(ALL),
              floor("create + list, delete", ZooKeeperFloor::withListing),
              bare("create, delete", ZooKeeperFloor::withoutListing),
              ring("delete, event", ZooKeeperRing::new),
              peer("curator", "Curator InterProcessMutex", ALL, CuratorLocks::new),
              fair(),
              unfair());
      case "etcd" ->
          List.of(
              ours(ALL),
              floor("transaction, delete", EtcdFloor::new),
              ring("put, event", EtcdRing::new),
              peer("jetcd", "jetcd Lock", ALL, JetcdLocks::new),
              fair(),
              unfair());
      default -> throw new IllegalArgumentException("no such store: " + store);
    };
  }

  /** Those that are wanted; Fenceline is always there. */
  public static List<Entrant> of(String store, Predicate<String> wanted) {
    return of(store).stream()
        .filter(entrant -> entrant.role() == Role.OURS || wanted.test(entrant.id()))
        .toList();
  }

  private static Entrant ours(Set<Discipline> disciplines) {
    return new Entrant("fenceline", "Fenceline", Role.OURS, disciplines, FencelineLocks::new);
  }

  private static Entrant floor(String title, Opener opener) {
    return new Entrant("floor", "floor: " + title, Role.FLOOR, ALONE, opener);
  }

  /** Hands on from process to process, with as little as can be. */
  private static Entrant ring(String title, Opener opener) {
    return new Entrant("ring", "floor: " + title, Role.FLOOR, TURNS, opener);
  }

  private static Entrant bare(String title, Opener opener) {
    return new Entrant("bare", "bare: " + title, Role.BARE, ALONE, opener);
  }

  private static Entrant peer(String id, String title, Set<Discipline> disciplines, Opener opener) {
    return new Entrant(id, title, Role.PEER, disciplines, opener);
  }

  private static Entrant fair() {
    return new Entrant(
        "jvm-fair", "fair ReentrantLock", Role.LIMIT, HOT, address -> new ProcessLocks(true));
  }

  private static Entrant unfair() {
    return new Entrant(
        "jvm-unfair", "unfair ReentrantLock", Role.LIMIT, HOT, address -> new ProcessLocks(false));
  }
}
