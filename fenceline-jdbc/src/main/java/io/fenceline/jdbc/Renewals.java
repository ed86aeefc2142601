package io.fenceline.jdbc;

import io.fenceline.spi.Moment;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.Validity;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Starts many leases again: one statement for all that have the same length and are in their names'
 * rows, as nearly all are; what that did not find is looked for among the claims.
 */
final class Renewals {
  private final Statements statements;
  private final StoreContext context;

  /** Does something on the renewals' own connection. */
  @FunctionalInterface
  interface OnRenewalConnection {
    CompletableFuture<Set<String>> run(Connections.Work<Set<String>> work);
  }

  Renewals(Statements statements, StoreContext context) {
    this.statements = statements;
    this.context = context;
  }

  List<CompletableFuture<Renewal>> renew(
      List<RenewRequest> requests, OnRenewalConnection database) {
    Map<Duration, List<RenewRequest>> byTerm = new TreeMap<>();
    for (RenewRequest request : requests) {
      byTerm.computeIfAbsent(term(request), key -> new ArrayList<>()).add(request);
    }
    Map<RenewRequest, CompletableFuture<Renewal>> answers = new HashMap<>();
    byTerm.forEach(
        (term, group) -> {
          for (List<RenewRequest> part : parts(group, Function.identity())) {
            renewPart(NameRecord.micros(term), part, database, answers);
          }
        });
    return requests.stream().map(answers::get).toList();
  }

  private void renewPart(
      long term,
      List<RenewRequest> part,
      OnRenewalConnection database,
      Map<RenewRequest, CompletableFuture<Renewal>> answers) {
    Moment sent = context.time().now();
    CompletableFuture<Set<String>> renewed = database.run(session -> renewed(session, term, part));
    for (RenewRequest request : part) {
      answers.put(
          request,
          renewed.thenApply(
              owners ->
                  owners.contains(secret(request))
                      ? new Renewal.Renewed(new Validity(sent, request.lease()))
                      : Renewal.GONE));
    }
  }

  private Set<String> renewed(Session session, long term, List<RenewRequest> part)
      throws SQLException {
    Set<String> renewed = run(session, statements.renew, statements.renewed, term, part);
    if (renewed.size() < part.size()) {
      List<RenewRequest> rest =
          part.stream().filter(request -> !renewed.contains(secret(request))).toList();
      renewed.addAll(run(session, statements.renewClaims, statements.renewedClaims, term, rest));
    }
    return renewed;
  }

  /**
   * Runs one statement for all.
   *
   * @param lookup which of them were there, for a database whose updates return no rows
   */
  private static Set<String> run(
      Session session, Sql statement, @Nullable Sql lookup, long term, List<RenewRequest> part)
      throws SQLException {
    Session.Call call = prepare(session, statement, part).set("term", term);
    if (lookup == null) {
      return owners(call);
    }
    int changed = call.update();
    if (changed == part.size()) {
      return part.stream().map(Renewals::secret).collect(Collectors.toCollection(HashSet::new));
    }
    // None may have changed though all are there: none is made to end sooner, and a connection may
    // count the rows that have changed, not those that were found.
    return owners(prepare(session, lookup, part));
  }

  private static Session.Call prepare(Session session, Sql statement, List<RenewRequest> part)
      throws SQLException {
    Session.Call call = session.call(statement, part.size());
    call.set("owners", part.stream().map(r -> r.grant().claim().owner().bytes()).toList());
    if (call.has("names")) {
      call.set("names", part.stream().map(Renewals::name).toList());
    }
    return call;
  }

  private static Set<String> owners(Session.Call call) throws SQLException {
    HexFormat hex = HexFormat.of();
    return new HashSet<>(call.rows(row -> hex.formatHex(row.getBytes(1))));
  }

  private static byte[] name(RenewRequest request) {
    return request.grant().claim().name().getBytes(StandardCharsets.UTF_8);
  }

  private static String secret(RenewRequest request) {
    return request.grant().claim().owner().secret();
  }

  private static Duration term(RenewRequest request) {
    return request.lease().plus(request.grant().claim().delay());
  }

  /** A list in parts that one statement can take. */
  static <A, B> List<List<B>> parts(List<A> all, Function<A, B> mapping) {
    List<List<B>> parts = new ArrayList<>();
    for (int from = 0; from < all.size(); from += Sql.LONGEST_LIST) {
      int to = Math.min(all.size(), from + Sql.LONGEST_LIST);
      parts.add(all.subList(from, to).stream().map(mapping).toList());
    }
    return parts;
  }
}
