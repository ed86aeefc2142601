package io.fenceline.spring.boot;

import io.fenceline.diagnosis.Guarantee;
import io.fenceline.spring.LockedConfiguration;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of the locks of an application.
 *
 * @param store Where the locks are, as a URI such as redis://host or memory:, or "datasource" or
 *     "redis" for what the application is connected to. By default the first of these two that is
 *     there.
 * @param label What the application calls itself in inspection and errors. By default its name,
 *     host and process id.
 * @param lease How long the store keeps a lock for a process that is not heard of. Leases renew
 *     themselves.
 * @param connectTimeout How long connecting to the store may take.
 * @param operationTimeout How long one request to the store may go unanswered.
 * @param require Guarantees that the store must give; otherwise the application does not start.
 * @param tokenBase Number that is added to every grant number, for a ZooKeeper or etcd that was
 *     restored.
 * @param groups Options of locks by name, such as fenceline.groups.orders.names=order:*, with
 *     lease, fixed-lease, max-wait, max-hold, lock-delay, keep-at-least, warn-after and
 *     interrupt-on-loss.
 */
@ConfigurationProperties("fenceline")
public record FencelineProperties(
    @Nullable String store,
    @Nullable String label,
    @DefaultValue("30s") Duration lease,
    @DefaultValue("5s") Duration connectTimeout,
    @DefaultValue("3s") Duration operationTimeout,
    @DefaultValue Set<Guarantee> require,
    @DefaultValue("0") long tokenBase,
    @DefaultValue HandOff handOff,
    @DefaultValue Locked locked,
    @DefaultValue Jdbc jdbc,
    @DefaultValue Http http,
    @DefaultValue Map<String, Group> groups) {

  /**
   * How far a lock may pass within the process before others get their turn.
   *
   * @param times How often a lock may pass after a grant.
   * @param within How long after a grant a lock may pass.
   */
  public record HandOff(@DefaultValue("255") int times, @DefaultValue("10ms") Duration within) {}

  /**
   * Locked methods.
   *
   * @param enabled Whether methods with @Locked are locked.
   * @param maxWait How long a method waits for its lock, unless its annotation or group says.
   * @param order Order of the lock among the advisors of a method; it must be outside of
   *     transactions.
   */
  public record Locked(
      @DefaultValue("true") boolean enabled,
      @DefaultValue("10s") Duration maxWait,
      @DefaultValue("" + LockedConfiguration.ORDER) int order) {}

  /**
   * Locks in the application's DataSource.
   *
   * @param initializeSchema Whether tables that are missing are created: "always", or "never" where
   *     Flyway or Liquibase do it.
   * @param tablePrefix How the names of the tables begin.
   * @param schema Schema of the tables; by default that of the connection.
   * @param tablesOwner Role of PostgreSQL that the tables may belong to, where somebody else
   *     creates them: neither the application's user nor the owner of the schema or the database.
   * @param ownConnections Whether renewals and listening have two connections of their own, so that
   *     a pool that is in use loses no lock.
   */
  public record Jdbc(
      @DefaultValue("always") SchemaInitialization initializeSchema,
      @DefaultValue("fenceline") String tablePrefix,
      @Nullable String schema,
      @Nullable String tablesOwner,
      @DefaultValue("true") boolean ownConnections) {}

  /** When tables are created. */
  public enum SchemaInitialization {
    /** If they are missing. */
    ALWAYS,
    /** By somebody else. */
    NEVER
  }

  /** Fencing tokens over HTTP. */
  public record Http(@DefaultValue Filter filter, @DefaultValue Client client) {}

  /**
   * The filter that reads tokens of requests.
   *
   * @param enabled Whether requests that write need a fencing token.
   * @param urlPatterns Comma-separated list of the URL patterns that the filter applies to.
   * @param routes Comma-separated list of routes, such as /accounts/{id}, whose tokens are checked
   *     by the Fence bean before the handler runs.
   * @param optional Whether requests without a token pass.
   */
  public record Filter(
      @DefaultValue("false") boolean enabled,
      @DefaultValue("/*") List<String> urlPatterns,
      @DefaultValue List<String> routes,
      @DefaultValue("false") boolean optional) {}

  /**
   * Clients that send tokens.
   *
   * @param enabled Whether every RestClient and WebClient of the application sends the current
   *     token.
   */
  public record Client(@DefaultValue("false") boolean enabled) {}

  /**
   * Options of the locks with certain names.
   *
   * @param names Comma-separated list of names; one that ends in * stands for all that begin so.
   * @param lease How long the store keeps the lock for a process that is not heard of.
   * @param fixedLease Lease that is not renewed.
   * @param maxWait How long to wait for the lock.
   * @param maxHold How long after it was acquired the lock is no longer renewed.
   * @param lockDelay How long the name stays closed after a lease that ran out.
   * @param keepAtLeast How long after it was acquired the name stays closed, even if it is
   *     released.
   * @param warnAfter How long the lock may be held without a warning.
   * @param interruptOnLoss Whether the thread that acquired the lock is interrupted when it is
   *     lost.
   */
  public record Group(
      @DefaultValue List<String> names,
      @Nullable Duration lease,
      @Nullable Duration fixedLease,
      @Nullable Duration maxWait,
      @Nullable Duration maxHold,
      @Nullable Duration lockDelay,
      @Nullable Duration keepAtLeast,
      @Nullable Duration warnAfter,
      @DefaultValue("false") boolean interruptOnLoss) {}
}
