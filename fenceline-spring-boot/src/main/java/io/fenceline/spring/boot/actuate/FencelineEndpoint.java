package io.fenceline.spring.boot.actuate;

import io.fenceline.Fenceline;
import io.fenceline.diagnosis.Finding;
import io.fenceline.diagnosis.Guarantees;
import io.fenceline.diagnosis.LockReport;
import io.fenceline.settings.Durations;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;

/**
 * Actuator endpoint {@code fenceline}: what is locked and by whom, what the stores guarantee, and
 * what is wrong with their settings. With unrestricted access, a lock can be taken away by its
 * token.
 */
@Endpoint(id = "fenceline", defaultAccess = Access.READ_ONLY)
@SuppressWarnings("deprecation") // Boot 3.5 knows what may be left out by Spring's own @Nullable.
public final class FencelineEndpoint {
  private static final int MOST_LOCKS = 1_000;

  private final Supplier<Map<String, Fenceline>> clients;

  FencelineEndpoint(Supplier<Map<String, Fenceline>> clients) {
    this.clients = clients;
  }

  /**
   * All clients.
   *
   * @param prefix of the names of locks to list; all by default
   */
  @ReadOperation
  public Map<String, ClientReport> clients(
      @org.springframework.lang.Nullable @Nullable String prefix) {
    Map<String, ClientReport> all = new LinkedHashMap<>();
    clients
        .get()
        .forEach(
            (name, client) ->
                all.put(
                    name,
                    new ClientReport(
                        client.store(),
                        client.list(prefix == null ? "" : prefix, MOST_LOCKS).stream()
                            .map(Lock::of)
                            .toList(),
                        Promises.of(client.guarantees()),
                        client.diagnose())));
    return all;
  }

  /**
   * One lock, at each client.
   *
   * @param lock its name, whose slashes may be those of the path
   */
  @ReadOperation
  public Map<String, Lock> lock(@Selector(match = Match.ALL_REMAINING) String[] lock) {
    String name = String.join("/", lock);
    Map<String, Lock> all = new LinkedHashMap<>();
    clients.get().forEach((bean, client) -> all.put(bean, Lock.of(client.inspect(name))));
    return all;
  }

  /**
   * Takes a lock away from its holder.
   *
   * @param token of the grant, as the endpoint shows it
   * @param client the name of its bean; may be left out if there is one
   */
  @DeleteOperation
  public Map<String, Object> release(
      @Selector(match = Match.ALL_REMAINING) String[] lock,
      long token,
      @org.springframework.lang.Nullable @Nullable String client) {
    String name = String.join("/", lock);
    Map<String, Fenceline> all = clients.get();
    if (client == null && all.size() > 1) {
      throw new IllegalArgumentException("client: name one of " + all.keySet());
    }
    Fenceline chosen = client == null ? all.values().iterator().next() : all.get(client);
    if (chosen == null) {
      throw new IllegalArgumentException("client: name one of " + all.keySet());
    }
    return Map.of("lock", name, "released", chosen.forceRelease(name, token));
  }

  /** A client, its locks and its store. */
  public record ClientReport(
      String store, List<Lock> locks, Promises guarantees, List<Finding> findings) {}

  /** What a store promises, in words. */
  public record Promises(
      List<String> given,
      String durable,
      String onCrash,
      String onFailover,
      String onClockJump,
      String onWipe) {
    static Promises of(Guarantees guarantees) {
      return new Promises(
          guarantees.given().stream().map(Enum::name).sorted().toList(),
          guarantees.durable().name(),
          guarantees.onCrash(),
          guarantees.onFailover(),
          guarantees.onClockJump(),
          guarantees.onWipe());
    }
  }

  /** A lock, its holders and its waiters. */
  public record Lock(String name, List<Holder> holders, List<Waiter> waiters) {
    static Lock of(LockReport report) {
      return new Lock(
          report.name(),
          report.holders().stream().map(Holder::of).toList(),
          report.waiters().stream().map(Waiter::of).toList());
    }
  }

  /**
   * A holder.
   *
   * @param token as text, since some readers of JSON round long numbers
   */
  public record Holder(
      String id,
      String label,
      String host,
      long pid,
      String mode,
      String token,
      String since,
      String remaining) {
    static Holder of(LockReport.Holder holder) {
      return new Holder(
          holder.id(),
          holder.label(),
          holder.host(),
          holder.pid(),
          holder.mode(),
          Long.toString(holder.token()),
          holder.since().toString(),
          Durations.show(holder.remaining()));
    }
  }

  /** A waiter. */
  public record Waiter(String id, String label, String host, long pid, String mode, String since) {
    static Waiter of(LockReport.Waiter waiter) {
      return new Waiter(
          waiter.id(),
          waiter.label(),
          waiter.host(),
          waiter.pid(),
          waiter.mode(),
          waiter.since().toString());
    }
  }
}
