package io.fenceline.jdbc;

import io.fenceline.diagnosis.Finding;
import io.fenceline.diagnosis.Guarantees;
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
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Locks in the tables of a database.
 *
 * <p>No call blocks: see {@link Attempts}. A name that is simply free is taken by one statement,
 * and given back by one; whatever is not so simple goes through {@link NameTransaction}.
 */
final class SqlLockStore implements LockStore, WaitingRoom.Looks {
  private static final byte[] NOBODY = new byte[0];

  /** Below every name. Not empty, which MariaDB can be told to take for NULL. */
  static final byte[] BEFORE_ALL_NAMES = {0};

  private final String description;
  private final Guarantees guarantees;
  private final StoreContext context;
  private final Dialect dialect;
  private final Tables tables;
  private final Statements statements;
  private final Attempts attempts;
  private final Janitor janitor;
  private final ShortWay shortWay;
  private final NameTransaction transactions;
  private final WaitingRoom room;
  private final Neighbours neighbours;
  private final String client;
  private final Map<Owner, Asked> unanswered = new ConcurrentHashMap<>();
  private final AtomicLong seen = new AtomicLong();
  private volatile @Nullable Listener listener;

  SqlLockStore(
      String description,
      Guarantees guarantees,
      StoreContext context,
      Connections connections,
      Dialect dialect,
      Tables tables,
      Statements statements,
      Errors errors,
      Polling polling) {
    this.description = description;
    this.guarantees = guarantees;
    this.context = context;
    this.dialect = dialect;
    this.tables = tables;
    this.statements = statements;
    this.attempts = new Attempts(connections, dialect, errors, context.time());
    this.transactions =
        new NameTransaction(dialect, statements, () -> Owner.draw(context.random()).bytes());
    this.room = new WaitingRoom(context, polling, this);
    this.neighbours = new Neighbours(description + " " + tables);
    neighbours.add(room);
    this.client = Entry.encode(context.client());
    this.shortWay = new ShortWay(dialect, statements, client);
    this.janitor = new Janitor(context, attempts, statements, transactions);
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
    Duration interval = WaitingRoom.patience(request).multipliedBy(10);
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
        .answer("A claim of lock '" + request.name() + "' failed", session -> ask(session, request))
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

  private ClaimAnswer ask(Session session, ClaimRequest request) throws SQLException {
    if (!room.has(request.owner())) {
      long number = shortWay.take(session, request, seen.get());
      if (number != ShortWay.NOT_FREE) {
        if (number > GrantNumbers.MAX) {
          decide(
              session, request.name(), request.owner().bytes(), false, false, withdrawal(request));
          throw Refusals.numberTooLarge(request.name(), number, GrantNumbers.MAX);
        }
        return granted(number, request);
      }
    }
    long patience = NameRecord.micros(WaitingRoom.patience(request));
    ClaimAnswer answer =
        decide(
            session,
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
            session -> {
              decide(session, request.name(), owner, false, false, withdrawal(request));
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

  private Release release(Session session, ReleaseRequest request, String name, byte[] owner)
      throws SQLException {
    if (request.keepClosed().isZero()) {
      Integer others = shortWay.giveBack(session, name, owner);
      if (others != null) {
        if (others > 0) {
          neighbours.soon();
        }
        return Release.RELEASED;
      }
    }
    Release answer =
        decide(
            session,
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
        session -> {
          Boolean done =
              decide(session, name, NOBODY, false, true, found -> found.forceRelease(number));
          return done != null && done;
        });
  }

  // Views. --------------------------------------------------------------------------------------

  @Override
  public CompletableFuture<NameState> inspect(String name) {
    return attempts.answer("An inspection of lock '" + name + "' failed", s -> inspect(s, name));
  }

  private NameState inspect(Session session, String name) throws SQLException {
    return NameStates.of(
        name,
        session
            .call(statements.inspect)
            .set("name", key(name))
            .rows(row -> new NameStates.Row(row.getLong("now"), NameStates.read(row))));
  }

  @Override
  public CompletableFuture<List<NameState>> list(String prefix, int limit) {
    return attempts.answer("A listing failed", session -> list(session, prefix, limit));
  }

  private List<NameState> list(Session session, String prefix, int limit) throws SQLException {
    byte[] start = key(prefix);
    byte[] low = start.length == 0 ? BEFORE_ALL_NAMES : start;
    byte[] high = Arrays.copyOf(start, start.length + 1);
    high[start.length] = (byte) 0xFF; // No byte of UTF-8 is as large.
    List<NameState> found = new ArrayList<>();
    byte[] after = BEFORE_ALL_NAMES;
    while (found.size() < limit) {
      int page = limit - found.size();
      List<byte[]> names =
          session
              .call(statements.list)
              .set("after", after)
              .set("low", low)
              .set("high", high)
              .set("limit", page)
              .rows(row -> row.getBytes(1));
      for (byte[] name : names) {
        NameState state = inspect(session, new String(name, StandardCharsets.UTF_8));
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
    return attempts.answer(
        "A diagnosis failed",
        session -> {
          List<Finding> findings = new ArrayList<>(dialect.findings(session.connection()));
          findings.addAll(Diagnosis.of(session, dialect, statements.diagnose));
          findings.addAll(new Rights(dialect, tables, statements).findings(session));
          return findings;
        });
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

  @Override
  public List<Owner> inTurn(List<String> names) {
    List<Owner> found = new ArrayList<>();
    attempts.look(
        "A look at the queues failed",
        session -> {
          for (List<byte[]> part :
              Renewals.parts(names, name -> name.getBytes(StandardCharsets.UTF_8))) {
            found.addAll(
                session
                    .call(statements.inTurn, part.size())
                    .set("names", part)
                    .rows(row -> owner(row.getBytes(1))));
          }
          return found;
        });
    return found;
  }

  @Override
  public Map<Owner, Boolean> look(List<Owner> owners) {
    Map<Owner, Boolean> found = new HashMap<>();
    attempts.look(
        "A look at the queues failed",
        session -> {
          for (List<byte[]> part : Renewals.parts(owners, Owner::bytes)) {
            session
                .call(statements.poll, part.size())
                .set("owners", part)
                .rows(row -> found.put(owner(row.getBytes(1)), row.getInt(2) != 0));
          }
          return found;
        });
    return found;
  }

  @Override
  public void beat(List<Owner> owners) {
    attempts.look(
        "A sign of life of those who wait failed",
        session -> {
          for (List<byte[]> part : Renewals.parts(owners, Owner::bytes)) {
            session.call(statements.beat, part.size()).set("owners", part).update();
          }
          return owners;
        });
  }

  /** A message from the database: this one's turn has come. */
  void hint(String id) {
    room.hint(id);
  }

  /** Something may have been missed. */
  void lookSoon() {
    room.soon();
  }

  /** Hears messages with this, as soon as someone waits. */
  void listenWith(Listener hears) {
    listener = hears;
  }

  private void startListening() {
    Listener hears = listener;
    if (hears != null) {
      hears.start();
    }
  }

  // The way to the database. --------------------------------------------------------------------

  private <T> @Nullable T decide(
      Session session,
      String name,
      byte[] owner,
      boolean creates,
      boolean keeps,
      Function<NameRecord, T> decision)
      throws SQLException {
    NameTransaction.Outcome<T> outcome =
        transactions.run(session, name, owner, creates, keeps, decision);
    if (outcome == null) {
      return null;
    }
    if (outcome.next() != null) {
      neighbours.hint(outcome.next());
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
    Listener hears = listener;
    if (hears != null) {
      hears.close();
    }
    // Asked now, they hear that the store is closed.
    room.close().forEach(QueuedClaim::ask);
    attempts.close();
  }
}
