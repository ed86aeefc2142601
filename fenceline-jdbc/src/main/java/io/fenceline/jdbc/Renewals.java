package io.fenceline.jdbc;

import io.fenceline.FencelineException;
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
    Set<String> run(Connections.Work<Set<String>> work);
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
    try {
      Set<String> renewed = database.run(session -> renewed(session, term, part));
      for (RenewRequest request : part) {
        answers.put(
            request,
            CompletableFuture.completedFuture(
                renewed.contains(secret(request))
                    ? new Renewal.Renewed(new Validity(sent, request.lease()))
                    : Renewal.GONE));
      }
    } catch (FencelineException e) {
      part.forEach(request -> answers.put(request, CompletableFuture.failedFuture(e)));
    }
  }

  private Set<String> renewed(Session session, long term, List<RenewRequest> part)
      throws SQLException {
    Set<String> renewed = run(session, statements.renew, term, part, true);
    if (renewed.size() < part.size()) {
      List<RenewRequest> rest =
          part.stream().filter(request -> !renewed.contains(secret(request))).toList();
      renewed.addAll(run(session, statements.renewClaims, term, rest, false));
    }
    return renewed;
  }

  private Set<String> run(
      Session session, Sql statement, long term, List<RenewRequest> part, boolean byName)
      throws SQLException {
    List<byte[]> owners =
        part.stream().map(request -> request.grant().claim().owner().bytes()).toList();
    Session.Call call =
        session.call(statement, part.size()).set("owners", owners).set("term", term);
    if (byName) {
      call.set("names", part.stream().map(Renewals::name).toList());
    }
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
