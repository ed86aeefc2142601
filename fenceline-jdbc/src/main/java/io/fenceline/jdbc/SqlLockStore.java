package io.fenceline.jdbc;

import io.fenceline.diagnosis.Finding;
import io.fenceline.diagnosis.Guarantees;
import io.fenceline.jdbc.claim.FastPath;
import io.fenceline.jdbc.claim.NameRecord;
import io.fenceline.jdbc.claim.NameTransaction;
import io.fenceline.jdbc.connection.Connections;
import io.fenceline.jdbc.connection.Failures;
import io.fenceline.jdbc.connection.Requests;
import io.fenceline.jdbc.diagnostics.Diagnostics;
import io.fenceline.jdbc.diagnostics.NameStates;
import io.fenceline.jdbc.layout.ClaimRow;
import io.fenceline.jdbc.layout.Micros;
import io.fenceline.jdbc.layout.Tables;
import io.fenceline.jdbc.renewal.Renewals;
import io.fenceline.jdbc.renewal.Sweeper;
import io.fenceline.jdbc.sql.Dialect;
import io.fenceline.jdbc.sql.Sql;
import io.fenceline.jdbc.sql.SqlConnection;
import io.fenceline.jdbc.sql.Statements;
import io.fenceline.jdbc.waiting.LocalPollers;
import io.fenceline.jdbc.waiting.NotificationListener;
import io.fenceline.jdbc.waiting.PollInterval;
import io.fenceline.jdbc.waiting.QueuePoller;
import io.fenceline.spi.ClaimAnswer;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.GrantNumbers;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.NameState;
import io.fenceline.spi.Owner;
import io.fenceline.spi.QueuedClaim;
import io.fenceline.spi.Refusals;
import io.fenceline.spi.Release;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.StoreContext;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Locks in the tables of a database.
 *
 * <p>No call blocks: see {@link Requests}. A name that is simply free is taken by one statement,
 * and given back by one; whatever is not so simple goes through {@link NameTransaction}.
 */
final class SqlLockStore implements LockStore, QueuePoller.Looks {
  private static final byte[] NOBODY = new byte[0];

  private final String description;
  private final Guarantees guarantees;
  private final StoreContext context;
  private final Dialect dialect;
  private final Diagnostics diagnostics;
  private final Statements statements;
  private final Requests attempts;
  private final Sweeper janitor;
  private final FastPath shortWay;
  private final NameTransaction transactions;
  private final QueuePoller room;
  private final LocalPollers neighbours;
  private final String client;
  private final Map<Owner, Asked> unanswered = new ConcurrentHashMap<>();
  private final AtomicLong seen = new AtomicLong();
  private volatile @Nullable NotificationListener ears;
  private volatile PollInterval told;
  private volatile @Nullable BiConsumer<String, String> teller;

  SqlLockStore(
      String description,
      Guarantees guarantees,
      StoreContext context,
      Connections connections,
      Dialect dialect,
      Diagnostics diagnostics,
      Statements statements,
      Failures failures,
      PollInterval polling) {
    this.description = description;
    this.guarantees = guarantees;
    this.context = context;
    this.dialect = dialect;
    this.diagnostics = diagnostics;
    this.statements = statements;
    this.attempts = new Requests(connections, dialect, failures, context.time());
    this.transactions =
        new NameTransaction(dialect, statements, () -> Owner.draw(context.random()).bytes());
    this.told = polling;
    this.room = new QueuePoller(context, () -> isTold() ? told : polling, this);
    this.neighbours = new LocalPollers(description + " " + statements.tables);
    neighbours.add(room);
    this.client = ClaimRow.encode(context.client());
    this.shortWay = new FastPath(dialect, statements, client);
    this.janitor = new Sweeper(context, attempts, statements, transactions);
    janitor.start();
  }

  @Override
  public String description() {
    return description;
  }

  @Override
  public Guarantees guarantees() {
    return guarantees;
  }

  // Claims. -------------------------------------------------------------------------------------

  @Override
  public void claim(ClaimRequest request, ClaimHandler handler) {
    QueuedClaim[] self = new QueuedClaim[1];
    // The room looks for it and keeps it alive; asking by itself is only the last resort.
    Duration interval = QueuePoller.patience(request).multipliedBy(10);
    self[0] =
        new QueuedClaim(
            description, request, handler, context, interval, asked -> ask(asked, self[0]));
    self[0].ask();
  }

  /** A request of a claim that has no answer yet. */
  private record Asked(QueuedClaim claim, CompletableFuture<ClaimAnswer> answer) {}

  private CompletableFuture<ClaimAnswer> ask(ClaimRequest request, QueuedClaim claim) {
    Asked asked = new Asked(claim, new CompletableFuture<>());
    unanswered.put(request.owner(), asked);
    request(request, claim)
        .whenComplete(
            (answer, failure) -> {
              unanswered.remove(request.owner(), asked);
              if (failure == null) {
                asked.answer.complete(answer);
              } else {
                asked.answer.completeExceptionally(failure);
              }
            });
    return asked.answer;
  }

  private CompletableFuture<ClaimAnswer> request(ClaimRequest request, QueuedClaim claim) {
    return attempts
        .answer("A claim of lock '" + request.name() + "' failed", db -> ask(db, request))
        .whenComplete(
            (answer, failure) -> {
              if (answer instanceof ClaimAnswer.Waiting) {
                startListening();
                room.add(request, claim);
                if (claim.isOver()) {
                  // It was withdrawn between the hint that made it ask and the request.
                  CompletableFuture<Void> unused = withdrawNow(request);
                }
              } else {
                room.remove(request.owner());
              }
            });
  }

  private ClaimAnswer ask(SqlConnection db, ClaimRequest request) throws SQLException {
    long patience = Micros.of(QueuePoller.patience(request));
    if (room.has(request.owner())) {
      long number = shortWay.takeTurn(db, request, seen.get());
      if (number != FastPath.NOT_FREE) {
        return granted(number, request);
      }
    } else {
      boolean triesQueue = shortWay.isCrowded(request.name());
      FastPath.Queued queued = triesQueue ? shortWay.enqueue(db, request, patience) : null;
      long number = queued == null ? shortWay.take(db, request, seen.get()) : FastPath.NOT_FREE;
      if (number == FastPath.NOT_FREE && !triesQueue) {
        queued = shortWay.enqueue(db, request, patience);
      }
      if (queued != null && queued.isBehind()) {
        return new ClaimAnswer.Waiting(queued.holder());
      }
      if (number != FastPath.NOT_FREE) {
        if (number > GrantNumbers.MAX) {
          decide(db, request.name(), request.owner().bytes(), false, false, withdrawal(request));
          throw Refusals.numberTooLarge(request.name(), number, GrantNumbers.MAX);
        }
        return granted(number, request);
      }
    }
    ClaimAnswer answer =
        decide(
            db,
            request.name(),
            request.owner().bytes(),
            true,
            false,
            name -> name.claim(request, client, patience, seen.get()));
    if (answer == null) {
      throw new SQLException("the row of the name is gone");
    }
    return answer instanceof ClaimAnswer.Granted granted
        ? granted(granted.number(), request)
        : answer;
  }

  private ClaimAnswer granted(long number, ClaimRequest request) {
    seen.accumulateAndGet(number, Math::max);
    return new ClaimAnswer.Granted(number, request.lease());
  }

  /*
   * A request that is under way on another thread could arrive after this one, and wait or be granted
   * for ever: it is answered first.
   */
  @Override
  public CompletableFuture<Void> withdraw(ClaimRequest request) {
    Asked asked = unanswered.get(request.owner());
    if (asked == null) {
      return withdrawNow(request);
    }
    asked.claim.stop();
    return asked.answer.handle((answer, failure) -> request).thenCompose(this::withdrawNow);
  }

  private CompletableFuture<Void> withdrawNow(ClaimRequest request) {
    QueuedClaim waiting = room.remove(request.owner());
    if (waiting != null) {
      waiting.stop();
    }
    byte[] owner = request.owner().bytes();
    return attempts
        .answer(
            "A withdrawal from lock '" + request.name() + "' failed",
            db -> {
              decide(db, request.name(), owner, false, false, withdrawal(request));
              return owner;
            })
        .thenAccept(done -> {});
  }

  private static Function<NameRecord, NameRecord> withdrawal(ClaimRequest request) {
    return name -> {
      name.withdraw(request.owner().bytes());
      return name;
    };
  }

  // Grants. -------------------------------------------------------------------------------------

  @Override
  public List<CompletableFuture<Renewal>> renew(List<RenewRequest> requests) {
    return new Renewals(dialect, statements, context, attempts).renew(requests);
  }

  @Override
  public CompletableFuture<Release> release(ReleaseRequest request) {
    String name = request.grant().claim().name();
    byte[] owner = request.grant().claim().owner().bytes();
    return attempts.answer(
        "A release of lock '" + name + "' failed", s -> release(s, request, name, owner));
  }

  private Release release(SqlConnection db, ReleaseRequest request, String name, byte[] owner)
      throws SQLException {
    if (request.keepClosed().isZero()) {
      FastPath.Freed freed = shortWay.giveBack(db, name, owner);
      if (freed != null) {
        if (freed.next() != null) {
          tell(freed.next(), freed.whose());
        } else if (freed.hasOthers()) {
          neighbours.soon();
        }
        return Release.RELEASED;
      }
    }
    Release answer =
        decide(
            db,
            name,
            owner,
            false,
            !request.keepClosed().isZero(),
            found -> found.release(owner, request.keepClosed()));
    return answer == null ? Release.GONE : answer;
  }

  @Override
  public CompletableFuture<Boolean> forceRelease(String name, long number) {
    return attempts.answer(
        "A forced release of lock '" + name + "' failed",
        db -> {
          Boolean done = decide(db, name, NOBODY, false, true, found -> found.forceRelease(number));
          return done != null && done;
        });
  }

  // Views. --------------------------------------------------------------------------------------

  @Override
  public CompletableFuture<NameState> inspect(String name) {
    return attempts.answer("An inspection of lock '" + name + "' failed", s -> inspect(s, name));
  }

  private NameState inspect(SqlConnection db, String name) throws SQLException {
    return NameStates.of(
        name,
        db.call(statements.inspect)
            .set("name", key(name))
            .rows(row -> new NameStates.Row(row.getLong("now"), NameStates.read(row))));
  }

  @Override
  public CompletableFuture<List<NameState>> list(String prefix, int limit) {
    return attempts.answer("A listing failed", db -> list(db, prefix, limit));
  }

  private List<NameState> list(SqlConnection db, String prefix, int limit) throws SQLException {
    byte[] start = key(prefix);
    byte[] low = start.length == 0 ? Tables.BEFORE_ALL_NAMES : start;
    byte[] high = Arrays.copyOf(start, start.length + 1);
    high[start.length] = (byte) 0xFF; // No byte of UTF-8 is as large.
    List<NameState> found = new ArrayList<>();
    byte[] after = Tables.BEFORE_ALL_NAMES;
    while (found.size() < limit) {
      int page = limit - found.size();
      List<byte[]> names =
          db.call(statements.list)
              .set("after", after)
              .set("low", low)
              .set("high", high)
              .set("limit", page)
              .rows(row -> row.getBytes(1));
      for (byte[] name : names) {
        NameState state = inspect(db, new String(name, StandardCharsets.UTF_8));
        if (!state.holders().isEmpty() || !state.waiters().isEmpty()) {
          found.add(state);
        }
        after = name;
      }
      if (names.size() < page) {
        break;
      }
    }
    return found;
  }

  @Override
  public CompletableFuture<List<Finding>> diagnose() {
    return attempts.answer("A diagnosis failed", diagnostics::run);
  }

  /** Deletes what has not been used for long, now; gives how many names were forgotten. */
  int clean() {
    return janitor.clean();
  }

  // Waiting. ------------------------------------------------------------------------------------

  @Override
  public long changes() {
    return attempts.changes();
  }

  /** Who of all who wait for these names seems to have the turn. */
  List<Owner> inTurn(List<String> names) {
    return turn(names).first();
  }

  @Override
  public QueuePoller.Turn turn(List<String> names) {
    List<Owner> found = new ArrayList<>();
    long[] untilEnd = {Long.MAX_VALUE};
    attempts.look(
        "A look at the queues failed",
        db -> {
          for (List<byte[]> part :
              Renewals.parts(names, name -> name.getBytes(StandardCharsets.UTF_8))) {
            db.call(statements.inTurn, part.size())
                .set("names", part)
                .rows(row -> untilEnd[0] = Math.min(untilEnd[0], readTurn(row, found)));
          }
          return found;
        });
    return turn(found, untilEnd[0]);
  }

  private static QueuePoller.Turn turn(List<Owner> found, long microsUntilEnd) {
    boolean hasEnd = microsUntilEnd != Long.MAX_VALUE;
    return new QueuePoller.Turn(found, hasEnd ? microsUntilEnd * 1_000 : Long.MAX_VALUE);
  }

  /** Adds who should ask, if anyone, and gives how long it is until the next end. */
  private static long readTurn(ResultSet row, List<Owner> first) throws SQLException {
    byte[] owner = row.getBytes("owner");
    if (owner != null) {
      first.add(owner(owner));
    }
    long now = row.getLong("now");
    long until = Long.MAX_VALUE;
    for (String column : List.of("row_ends", "head_ends", "claim_ends")) {
      long end = row.getLong(column);
      if (!row.wasNull()) {
        until = Math.min(until, Math.max(0, end - now));
      }
    }
    return until;
  }

  @Override
  public QueuePoller.Signs beat(List<Owner> owners, List<String> names) {
    Sql both = statements.beatAndLook;
    if (both != null && owners.size() <= Sql.LONGEST_LIST && !names.isEmpty()) {
      return beatAndLook(both, owners, names);
    }
    Set<Owner> alive =
        attempts.look("A sign of life of those who wait failed", db -> beat(db, owners));
    return new QueuePoller.Signs(alive, turn(names));
  }

  private QueuePoller.Signs beatAndLook(Sql both, List<Owner> owners, List<String> names) {
    Set<Owner> alive = new HashSet<>();
    List<Owner> first = new ArrayList<>();
    long[] untilEnd = {Long.MAX_VALUE};
    attempts.look(
        "A sign of life of those who wait failed",
        db ->
            db.call(both, Math.max(owners.size(), names.size()))
                .set("owners", owners.stream().map(Owner::bytes).toList())
                .set("names", names.stream().map(SqlLockStore::key).toList())
                .rows(
                    row ->
                        row.getInt("alive") != 0
                            ? alive.add(owner(row.getBytes("owner")))
                            : (untilEnd[0] = Math.min(untilEnd[0], readTurn(row, first))) > 0));
    return new QueuePoller.Signs(alive, turn(first, untilEnd[0]));
  }

  /** Those who are still in a queue; who they are is only asked if someone is not. */
  private Set<Owner> beat(SqlConnection db, List<Owner> owners) throws SQLException {
    Set<Owner> alive = new HashSet<>();
    for (List<byte[]> part : Renewals.parts(owners, Owner::bytes)) {
      int found = db.call(statements.beat, part.size()).set("owners", part).update();
      if (found == part.size()) {
        part.forEach(one -> alive.add(owner(one)));
      } else {
        db.call(statements.poll, part.size())
            .set("owners", part)
            .rows(row -> alive.add(owner(row.getBytes(1))));
      }
    }
    return alive;
  }

  /** A message: the turn of this one has come, who waits in this process. */
  void hint(String id) {
    neighbours.hint(id);
  }

  /** As {@link #hint}, where asking does not block. */
  void hintNow(String id) {
    neighbours.hintNow(id);
  }

  /** Who waits in another process is told by this, where the database does not do so. */
  void tellWith(BiConsumer<String, String> tells) {
    teller = tells;
  }

  /** Someone's turn has come, be it here or elsewhere. */
  private void tell(String id, @Nullable String whose) {
    neighbours.hint(id);
    BiConsumer<String, String> tells = teller;
    if (tells != null && whose != null && !ClaimRow.isOfSameProcess(whose, client)) {
      tells.accept(whose, id);
    }
  }

  /** Whether those who wait here hear of it when it is their turn. */
  boolean isTold() {
    NotificationListener hears = ears;
    return hears != null && hears.isHearing();
  }

  /** Something may have been missed. */
  void lookSoon() {
    neighbours.soon();
  }

  /**
   * Hears messages with this, as soon as someone waits.
   *
   * @param whileHearing how often those who wait look meanwhile
   */
  void listenWith(NotificationListener hears, PollInterval whileHearing) {
    told = whileHearing;
    ears = hears;
  }

  private void startListening() {
    NotificationListener hears = ears;
    if (hears != null) {
      hears.start();
    }
  }

  // The way to the database. --------------------------------------------------------------------

  private <T> @Nullable T decide(
      SqlConnection db,
      String name,
      byte[] owner,
      boolean creates,
      boolean keeps,
      Function<NameRecord, T> decision)
      throws SQLException {
    NameTransaction.Outcome<T> outcome =
        transactions.run(db, name, owner, creates, keeps, decision);
    if (outcome == null) {
      return null;
    }
    if (outcome.next() != null) {
      tell(outcome.next().id(), outcome.next().client);
    }
    return outcome.answer();
  }

  private static byte[] key(String name) {
    return name.getBytes(StandardCharsets.UTF_8);
  }

  private static Owner owner(byte[] bytes) {
    return Owner.ofSecret(HexFormat.of().formatHex(bytes));
  }

  @Override
  public void close() {
    attempts.refuse();
    janitor.close();
    neighbours.remove(room);
    NotificationListener hears = ears;
    if (hears != null) {
      hears.close();
    }
    // Asked now, they hear that the store is closed.
    room.close().forEach(QueuedClaim::ask);
    attempts.close();
  }
}
