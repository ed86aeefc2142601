package io.fenceline.jdbc.waiting;

import io.fenceline.jdbc.connection.Requests;
import io.fenceline.jdbc.layout.ClaimRow;
import io.fenceline.jdbc.sql.Statements;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Owner;
import io.fenceline.spi.QueuedClaim;
import io.fenceline.spi.StoreContext;
import java.sql.Connection;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The claims of one client that wait: how they learn that it is their turn, and how whoever makes
 * room tells them, here or in another process.
 */
public final class Waiters {
  private final QueueReader reader;
  private final QueuePoller poller;
  private final LocalPollers local;
  private final String client;

  private volatile @Nullable NotificationListener listener;
  private volatile PollInterval whileTold;
  private volatile @Nullable BiConsumer<String, String> otherProcesses;

  /**
   * Nobody waits yet.
   *
   * @param store which database; clients of the same tell each other
   * @param client as the rows of its claims have it
   * @param interval how often to look
   */
  public Waiters(
      String store,
      String client,
      StoreContext context,
      Requests requests,
      Statements statements,
      PollInterval interval) {
    this.client = client;
    this.whileTold = interval;
    this.reader = new QueueReader(requests, statements);
    this.poller =
        new QueuePoller(context, () -> isTold() ? whileTold : interval, reader, this::untold);
    this.local = new LocalPollers(store + " " + statements.tables);
    local.add(poller);
  }

  /**
   * Hears messages with this, as soon as someone waits.
   *
   * @param interval how often those who wait look meanwhile
   */
  public void listenWith(NotificationListener hears, PollInterval interval) {
    whileTold = interval;
    listener = hears;
  }

  /**
   * Tells other processes with this, where the database does not do so by itself.
   *
   * @param tells takes a client, as the row of its claim has it, and the public id of the claim
   */
  public void tellWith(BiConsumer<String, String> tells) {
    otherProcesses = tells;
  }

  // Those who wait here. ------------------------------------------------------------------------

  /**
   * Returns what a claim has to know that is about to be asked for, to be told for sure if it has
   * to wait.
   */
  public @Nullable ArmedBell watch() {
    NotificationListener hears = listener;
    return hears == null ? null : hears.watch();
  }

  /**
   * A claim waits from now on, or still does.
   *
   * @param holderLasts how long whoever holds the name may do so; null if that is not known
   * @param watch from before it was asked for
   */
  public void add(
      ClaimRequest request,
      QueuedClaim claim,
      @Nullable Duration holderLasts,
      @Nullable ArmedBell watch) {
    NotificationListener hears = listener;
    if (hears != null) {
      hears.start();
    }
    boolean isToldForSure = covers(hears, watch);
    Duration untilEnd = holderLasts == null ? QueuePoller.patience(request) : holderLasts;
    poller.add(request, claim, isToldForSure ? untilEnd : null);
    // Asked again, now that it is known: a ring that came before has begun a sleep without it.
    if (watch != null && !covers(hears, watch)) {
      poller.beginAnew();
      local.look();
    }
  }

  private static boolean covers(@Nullable NotificationListener hears, @Nullable ArmedBell watch) {
    return hears != null && watch != null && hears.covers(watch);
  }

  private void untold() {
    NotificationListener hears = listener;
    if (hears != null) {
      hears.doubt();
    }
  }

  /** A claim no longer waits; gives it if it did. */
  public @Nullable QueuedClaim remove(Owner owner) {
    return poller.remove(owner);
  }

  public boolean has(Owner owner) {
    return poller.has(owner);
  }

  /** Returns whether those who wait here hear of it when it is their turn. */
  public boolean isTold() {
    NotificationListener hears = listener;
    return hears != null && hears.isHearing();
  }

  // Messages. -----------------------------------------------------------------------------------

  /** A message says that it is the turn of one who may wait in this process. */
  public void hint(String id) {
    local.hint(id);
  }

  /** As {@link #hint}, where asking does not block. */
  public void hintNow(String id) {
    local.hintNow(id);
  }

  /**
   * As {@link #hint}, by a session of a listener, on which the claim is asked for if nobody else
   * waits here: what others are told would have to wait for the answer.
   *
   * @return whether the session was used
   */
  public boolean hintOn(Connection session, String id) {
    if (local.isOneAtMost()) {
      return Requests.on(session, () -> local.hintNow(id));
    }
    local.hintNow(id);
    return false;
  }

  /** It is the turn of someone of this process. */
  public void rung() {
    local.rung();
  }

  /** Names for which someone of this process waits, and has to be told. */
  public Collection<String> quietNames() {
    return local.quietNames();
  }

  /** A name may be free, or a message may have been missed: all of this process look. */
  public void lookSoon() {
    local.soon();
  }

  /**
   * It is someone's turn, be it here or elsewhere.
   *
   * @param whose its client; null if the database has told it
   */
  public void tell(String id, @Nullable String whose) {
    boolean isKnown = local.hint(id);
    BiConsumer<String, String> tells = otherProcesses;
    // Who is called like this process may be another one all the same, or use other classes.
    boolean isHere = isKnown && whose != null && ClaimRow.isOfSameProcess(whose, client);
    if (tells != null && whose != null && !isHere) {
      tells.accept(whose, id);
    }
  }

  // The queues. ---------------------------------------------------------------------------------

  /** Reads the queues, as the poller does; for tests. */
  public QueuePoller.Queues queues() {
    return reader;
  }

  /** Ends waiting, and gives the claims that still wait. */
  public List<QueuedClaim> close() {
    local.remove(poller);
    NotificationListener hears = listener;
    if (hears != null) {
      hears.close();
    }
    return poller.close();
  }
}
