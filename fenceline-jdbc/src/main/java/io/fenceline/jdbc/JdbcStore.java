package io.fenceline.jdbc;

import io.fenceline.FencelineException;
import io.fenceline.diagnosis.Finding;
import io.fenceline.diagnosis.Guarantees;
import io.fenceline.jdbc.claim.Claim;
import io.fenceline.jdbc.claim.ClaimContext;
import io.fenceline.jdbc.claim.FastPath;
import io.fenceline.jdbc.claim.NameTransaction;
import io.fenceline.jdbc.claim.Releases;
import io.fenceline.jdbc.connection.Requests;
import io.fenceline.jdbc.diagnostics.Diagnostics;
import io.fenceline.jdbc.diagnostics.Inspector;
import io.fenceline.jdbc.layout.ClaimRow;
import io.fenceline.jdbc.renewal.Renewals;
import io.fenceline.jdbc.renewal.Sweeper;
import io.fenceline.jdbc.sql.Dialect;
import io.fenceline.jdbc.sql.Statements;
import io.fenceline.jdbc.waiting.PollInterval;
import io.fenceline.jdbc.waiting.Waiters;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.NameState;
import io.fenceline.spi.Owner;
import io.fenceline.spi.QueuedClaim;
import io.fenceline.spi.Release;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.StoreContext;
import io.fenceline.time.Lane;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The locks of one client in the tables of a database. What blocks, and where: see {@link
 * Requests}.
 */
final class JdbcStore implements LockStore {
  final Waiters waiters;
  final Sweeper sweeper;

  private final Statements statements;
  private final StoreContext context;
  private final String description;
  private final Guarantees guarantees;
  private final Requests requests;
  private final ClaimContext claims;
  private final Releases releases;
  private final Renewals renewals;
  private final Inspector inspector;
  private final Diagnostics diagnostics;

  /**
   * Opens the store of a client.
   *
   * @param interval how often those who wait look, unless they are told
   * @param hasFastPath whether {@link FastPath} is tried
   */
  JdbcStore(
      StoreContext context, OpenDatabase database, PollInterval interval, boolean hasFastPath) {
    this.description = database.description();
    this.guarantees = database.guarantees();
    this.diagnostics = database.diagnostics();
    Dialect dialect = database.dialect();
    this.statements = database.statements();
    this.context = context;
    String client = ClaimRow.encode(context.client());
    this.requests =
        new Requests(database.connections(), dialect, database.failures(), context.time());
    this.waiters = new Waiters(description, client, context, requests, statements, interval);
    NameTransaction names =
        new NameTransaction(
            dialect, statements, waiters::tell, () -> Owner.draw(context.random()).bytes());
    FastPath fastPath = new FastPath(hasFastPath, dialect, statements, client);
    this.claims =
        new ClaimContext(description, client, context, requests, fastPath, names, waiters);
    this.releases = new Releases(claims);
    this.renewals = new Renewals(dialect, statements, context, requests);
    this.inspector = new Inspector(statements);
    this.sweeper = new Sweeper(context, requests, statements, names);
    sweeper.start();
    Statements.Bell bell = statements.bell;
    if (bell != null) {
      waiters.tellWith((whose, id) -> ring(bell, whose));
    }
  }

  /** The statements that wake a process that waits; null if the database tells it otherwise. */
  Statements.@Nullable Bell bell() {
    return statements.bell;
  }

  /** Whether the database itself tells those who wait. */
  boolean tells() {
    return statements.tell != null;
  }

  /** Wakes the process of a claim; not here, where a connection is in use. */
  private void ring(Statements.Bell bell, String whose) {
    context
        .time()
        .lane(Lane.WORK)
        .execute(
            () -> {
              try {
                requests.look(
                    "A message to a waiter failed",
                    db -> db.call(bell.ring()).set("client", whose).update());
              } catch (FencelineException e) {
                // It looks by itself.
              }
            });
  }

  @Override
  public String description() {
    return description;
  }

  @Override
  public Guarantees guarantees() {
    return guarantees;
  }

  // Claims and grants. --------------------------------------------------------------------------

  @Override
  public void claim(ClaimRequest request, ClaimHandler handler) {
    new Claim(claims, request, handler).ask();
  }

  @Override
  public void claimHere(ClaimRequest request, boolean interruptible, ClaimHandler handler) {
    new Claim(claims, request, handler).askHere(interruptible);
  }

  @Override
  public CompletableFuture<Void> withdraw(ClaimRequest request) {
    Claim unanswered = claims.unanswered().get(request.owner());
    return unanswered == null ? Claim.withdraw(claims, request) : unanswered.withdraw();
  }

  @Override
  public List<CompletableFuture<Renewal>> renew(List<RenewRequest> all) {
    return renewals.renew(all);
  }

  @Override
  public CompletableFuture<Release> release(ReleaseRequest request) {
    return releases.release(request);
  }

  @Override
  public CompletableFuture<Release> releaseHere(ReleaseRequest request) {
    return releases.releaseHere(request);
  }

  @Override
  public CompletableFuture<Boolean> forceRelease(String name, long number) {
    return releases.forceRelease(name, number);
  }

  // Views. --------------------------------------------------------------------------------------

  @Override
  public CompletableFuture<NameState> inspect(String name) {
    return requests.answer(
        "An inspection of lock '" + name + "' failed", db -> inspector.inspect(db, name));
  }

  @Override
  public CompletableFuture<List<NameState>> list(String prefix, int limit) {
    return requests.answer("A listing failed", db -> inspector.list(db, prefix, limit));
  }

  @Override
  public CompletableFuture<List<Finding>> diagnose() {
    return requests.answer("A diagnosis failed", diagnostics::run);
  }

  @Override
  public void close() {
    requests.refuse();
    sweeper.close();
    // Asked now, they hear that the store is closed.
    waiters.close().forEach(QueuedClaim::ask);
    requests.close();
  }
}
