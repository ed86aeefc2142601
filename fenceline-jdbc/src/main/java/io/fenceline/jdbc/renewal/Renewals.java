package io.fenceline.jdbc.renewal;

import io.fenceline.jdbc.connection.Requests;
import io.fenceline.jdbc.layout.Micros;
import io.fenceline.jdbc.sql.Dialect;
import io.fenceline.jdbc.sql.Sql;
import io.fenceline.jdbc.sql.SqlConnection;
import io.fenceline.jdbc.sql.Statements;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.Validity;
import io.fenceline.time.Moment;
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
 *
 * <p>A row that another transaction has locked, perhaps of a client that stands still, is passed
 * over: it must not cost the holds of other names. Its own renewal comes back by itself, on a
 * thread and a connection that claims don't use, and waits for the row like everybody else.
 */
public final class Renewals {
  private static final String FAILED = "A renewal failed";

  private final Dialect dialect;
  private final Statements statements;
  private final StoreContext context;
  private final Requests requests;

  /**
   * What came of many renewals.
   *
   * @param owners who was renewed
   * @param locked whose rows were locked; who is in neither is gone
   */
  private record Outcome(Set<String> owners, Set<String> locked) {}

  public Renewals(Dialect dialect, Statements statements, StoreContext context, Requests requests) {
    this.dialect = dialect;
    this.statements = statements;
    this.context = context;
    this.requests = requests;
  }

  public List<CompletableFuture<Renewal>> renew(List<RenewRequest> all) {
    Map<Duration, List<RenewRequest>> byTerm = new TreeMap<>();
    for (RenewRequest request : all) {
      byTerm.computeIfAbsent(term(request), key -> new ArrayList<>()).add(request);
    }
    Map<RenewRequest, CompletableFuture<Renewal>> answers = new HashMap<>();
    byTerm.forEach(
        (term, group) -> {
          for (List<RenewRequest> part : Sql.parts(group, Function.identity())) {
            renewPart(Micros.of(term), part, answers);
          }
        });
    return all.stream().map(answers::get).toList();
  }

  private void renewPart(
      long term, List<RenewRequest> part, Map<RenewRequest, CompletableFuture<Renewal>> answers) {
    Moment sent = context.time().now();
    CompletableFuture<Outcome> renewed =
        requests.answerRenewal(FAILED, db -> hurried(db, term, part));
    for (RenewRequest request : part) {
      answers.put(
          request,
          renewed.thenCompose(
              outcome ->
                  outcome.locked.contains(secret(request))
                      ? comeBack(term, request)
                      : CompletableFuture.completedFuture(answer(outcome.owners, request, sent))));
    }
  }

  private CompletableFuture<Renewal> comeBack(long term, RenewRequest request) {
    Moment sent = context.time().now();
    return requests
        .answerRepeated(FAILED, db -> renewed(db, statements.renewing, term, List.of(request)))
        .thenApply(owners -> answer(owners, request, sent));
  }

  private static Renewal answer(Set<String> owners, RenewRequest request, Moment sent) {
    return owners.contains(secret(request))
        ? new Renewal.Renewed(new Validity(sent, request.lease()))
        : Renewal.GONE;
  }

  /** Renews all whose rows are not locked; to find these, it halves until they are alone. */
  private Outcome hurried(SqlConnection db, long term, List<RenewRequest> part)
      throws SQLException {
    try {
      return new Outcome(renewed(db, statements.renewingInAHurry, term, part), new HashSet<>());
    } catch (SQLException e) {
      if (!dialect.isLocked(e)) {
        throw e;
      }
    }
    if (part.size() == 1) {
      return new Outcome(new HashSet<>(), new HashSet<>(Set.of(secret(part.get(0)))));
    }
    int half = part.size() / 2;
    Outcome first = hurried(db, term, part.subList(0, half));
    Outcome second = hurried(db, term, part.subList(half, part.size()));
    first.owners.addAll(second.owners);
    first.locked.addAll(second.locked);
    return first;
  }

  private static Set<String> renewed(
      SqlConnection db, Statements.Renewing statements, long term, List<RenewRequest> part)
      throws SQLException {
    Set<String> renewed = run(db, statements.rows(), statements.foundRows(), term, part);
    if (renewed.size() < part.size()) {
      List<RenewRequest> rest =
          part.stream().filter(request -> !renewed.contains(secret(request))).toList();
      renewed.addAll(run(db, statements.claims(), statements.foundClaims(), term, rest));
    }
    return renewed;
  }

  /**
   * Runs one statement for all.
   *
   * @param lookup which of them were there, for a database whose updates return no rows
   */
  private static Set<String> run(
      SqlConnection db, Sql statement, @Nullable Sql lookup, long term, List<RenewRequest> part)
      throws SQLException {
    SqlConnection.Call call = prepare(db, statement, part).set("term", term);
    if (lookup == null) {
      return owners(call);
    }
    int changed = call.update();
    if (changed == part.size()) {
      return part.stream().map(Renewals::secret).collect(Collectors.toCollection(HashSet::new));
    }
    // None may have changed though all are there: none is made to end sooner, and a connection may
    // count the rows that have changed, not those that were found.
    return owners(prepare(db, lookup, part));
  }

  private static SqlConnection.Call prepare(
      SqlConnection db, Sql statement, List<RenewRequest> part) throws SQLException {
    SqlConnection.Call call = db.call(statement, part.size());
    call.set("owners", part.stream().map(r -> r.grant().claim().owner().bytes()).toList());
    call.setNumbers("numbers", part.stream().map(r -> r.grant().number()).toList());
    if (call.has("names")) {
      call.set("names", part.stream().map(Renewals::name).toList());
    }
    return call;
  }

  private static Set<String> owners(SqlConnection.Call call) throws SQLException {
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
}
