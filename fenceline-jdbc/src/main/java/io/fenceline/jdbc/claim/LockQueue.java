package io.fenceline.jdbc.claim;

import io.fenceline.jdbc.layout.ClaimRow;
import io.fenceline.jdbc.layout.Micros;
import io.fenceline.jdbc.layout.Units;
import io.fenceline.jdbc.sql.Dialect;
import io.fenceline.spi.ClaimAnswer;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.GrantNumbers;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Refusals;
import io.fenceline.spi.Release;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The holders and first waiters of one name, as read under the lock of its row: decides who is
 * granted and who is next, and collects what has to be written.
 *
 * <p>Knows nothing of SQL. Times are microseconds.
 */
public final class LockQueue {
  /*
   * How there could be two holders, and why there are not:
   *
   * 1. A is granted by the one statement while B goes this long way. Both need the row's lock, and
   *    whoever gets it second sees what the first one wrote: the statement looks at the row again.
   * 2. B reads the claims before it has the lock, and misses a holder. The claims are read by a
   *    statement of their own, after the lock was got.
   * 3. B takes a holder's time to be over that is being renewed, for renewals of claims do not take
   *    the lock. B deletes that claim only if its end is still the one that was read; otherwise
   *    nothing is written and B starts again. If B deletes first, the renewal finds nothing.
   * 4. B disbelieves an end that is too far ahead, because it compares it with a time that was read
   *    before it. The time is read after the lock, in the statement that reads the claims, and half a
   *    second more than a term is believed; what still looks too far ahead is compared with a time
   *    that is asked for after the claims were read.
   * 5. A number goes back: it is always above the last one of the row, which no release clears; and
   *    a row is only deleted when the clock is past it.
   *
   * The same rule stands in statements that do without this class. look-for-turns.sql and poll.sql
   * are hints of who should ask, release.sql and tell-next.sql say who is told, and turn.sql grants
   * if nobody is ahead, dead or alive. Whatever they leave open is decided here.
   *
   * How a name could stay closed: a claim that is counted in "others" but not there. Claims come and
   * go under the row's lock only, which writes their count, too.
   */

  final String name;
  final long now;
  long lastNumber;
  long tail;
  int others;
  private @Nullable ClaimRow slot;
  private final List<ClaimRow> holders = new ArrayList<>();
  private final List<ClaimRow> waiters = new ArrayList<>();
  private final boolean frontIsFull;
  private final Supplier<byte[]> nobody;

  private boolean nameChanged;
  private boolean lasting;
  private boolean closing;
  private final List<ClaimRow> inserted = new ArrayList<>();
  private final List<ClaimRow> updated = new ArrayList<>();
  private final List<ClaimRow> deleted = new ArrayList<>();

  /**
   * The queue as it was read.
   *
   * @param slot the holder in the name's row
   * @param claims the other holders and the first who wait, in the order of their places
   * @param frontIsFull whether there may be more who wait than were read
   * @param nobody draws an owner that nobody has
   */
  LockQueue(
      String name,
      long now,
      long lastNumber,
      long tail,
      int others,
      @Nullable ClaimRow slot,
      List<ClaimRow> claims,
      boolean frontIsFull,
      Supplier<byte[]> nobody) {
    this.name = name;
    this.now = now;
    this.lastNumber = lastNumber;
    this.tail = tail;
    this.others = others;
    this.slot = slot;
    this.frontIsFull = frontIsFull;
    this.nobody = nobody;
    for (ClaimRow claim : claims) {
      (claim.held ? holders : waiters).add(claim);
    }
    settle();
  }

  /** Ends what is over, and shortens what can't be believed. */
  private void settle() {
    if (slot != null) {
      if (isOver(slot)) {
        slot = null;
        nameChanged = true;
      } else {
        nameChanged |= shortened(slot);
      }
    }
    settle(holders);
    settle(waiters);
  }

  private void settle(List<ClaimRow> entries) {
    for (Iterator<ClaimRow> all = entries.iterator(); all.hasNext(); ) {
      ClaimRow entry = all.next();
      if (isOver(entry)) {
        all.remove();
        entry.onlyIfUnchanged = true;
        deleted.add(entry);
      } else if (shortened(entry)) {
        entry.onlyIfUnchanged = true;
        updated.add(entry);
      }
    }
  }

  private boolean isOver(ClaimRow entry) {
    return entry.ends <= now;
  }

  /** The clock was set back since that end was written. */
  private boolean shortened(ClaimRow entry) {
    if (!entry.isTooFarAhead(now)) {
      return false;
    }
    entry.run(now, entry.term);
    return true;
  }

  /**
   * Whether there are so many whose time is over that they are to be removed first, all at once;
   * nothing can be decided where none who were read as the first to wait is alive.
   */
  boolean isCrowdedByTheDead() {
    return (frontIsFull && waiters.size() <= 1) || deleted.size() > Dialect.FRONT;
  }

  // Requests. -----------------------------------------------------------------------------------

  /**
   * Claims the name; a repeat by the same owner starts its lease again, or keeps its place.
   *
   * @param waitTerm how long it stays in the queue without being heard of
   * @param seen the largest number that the client has seen
   */
  public ClaimAnswer claim(ClaimRequest request, String client, long waitTerm, long seen) {
    byte[] owner = request.owner().bytes();
    Units units = Units.of(request.mode());
    ClaimRow holder = holder(owner);
    if (holder != null) {
      if (holder.prolong(now, Micros.of(request.term()))) {
        holder.onlyIfUnchanged = true; // A renewal that came between may have given it more.
        changed(holder);
      }
      nameChanged = true;
      lasting = true;
      return new ClaimAnswer.Granted(holder.number, request.lease());
    }
    ClaimRow waiter = waiter(owner);
    if (waiter == null) {
      checkFamily(units);
    }
    ClaimRow head = waiters.isEmpty() ? null : waiters.get(0);
    if (head == waiter && fits(units)) {
      return new ClaimAnswer.Granted(grant(request, units, client, waiter, seen), request.lease());
    }
    if (waiter != null) {
      // Written no more often than needed: asking in vain should cost the database nothing.
      if (waiter.ends - now < waiter.term / 3 * 2) {
        waiter.run(now, waitTerm);
        changed(waiter);
      }
      return new ClaimAnswer.Waiting(obstacle());
    }
    if (!request.waits()) {
      return new ClaimAnswer.Refused(obstacle());
    }
    ClaimRow queued = new ClaimRow(owner, units, Micros.of(request.delay()), client);
    tail = Math.max(tail + 1, now);
    queued.place = tail;
    queued.since = now;
    queued.run(now, waitTerm);
    insert(queued);
    return new ClaimAnswer.Waiting(obstacle());
  }

  private long grant(
      ClaimRequest request, Units units, String client, @Nullable ClaimRow waiter, long seen) {
    long number = Math.max(Math.max(lastNumber, seen) + 1, Micros.clockNumber(now));
    if (number > GrantNumbers.MAX) {
      throw Refusals.numberTooLarge(name, number, GrantNumbers.MAX);
    }
    lastNumber = number;
    nameChanged = true;
    lasting = true;
    if (waiter != null) {
      waiters.remove(waiter);
      updated.remove(waiter);
    }
    ClaimRow staying = slot == null ? null : waiter;
    ClaimRow holder =
        staying != null
            ? staying
            : new ClaimRow(request.owner().bytes(), units, Micros.of(request.delay()), client);
    holder.held = true;
    holder.number = number;
    holder.since = now;
    holder.run(now, Micros.of(request.term()));
    if (staying != null) {
      holder.onlyIfUnchanged = false;
      holders.add(holder);
      updated.add(holder);
    } else {
      hold(holder);
      if (waiter != null) {
        waiter.onlyIfUnchanged = false;
        deleted.add(waiter);
      }
    }
    return number;
  }

  /** Gives a grant back, at once or after a while. */
  public Release release(byte[] owner, Duration keepClosed) {
    ClaimRow holder = holder(owner);
    if (holder == null) {
      return Release.GONE;
    }
    cut(holder, Micros.of(keepClosed));
    return Release.RELEASED;
  }

  /** Takes a claim away, be it waiting or granted. */
  public void withdraw(byte[] owner) {
    ClaimRow waiter = waiter(owner);
    if (waiter != null) {
      waiters.remove(waiter);
      updated.remove(waiter);
      waiter.onlyIfUnchanged = false;
      deleted.add(waiter);
    }
    ClaimRow holder = holder(owner);
    if (holder != null) {
      cut(holder, 0);
    }
  }

  /** Ends the grant with this number; with a lock-delay, after the delay. */
  public boolean forceRelease(long number) {
    for (ClaimRow holder : allHolders()) {
      if (holder.number == number) {
        cut(holder, Math.min(holder.ends - now, holder.delay));
        return true;
      }
    }
    return false;
  }

  /** Ends a grant; what keeps the name closed for a while is nobody's from now on. */
  private void cut(ClaimRow holder, long micros) {
    if (holder == slot) {
      slot = null;
      nameChanged = true;
    } else {
      holders.remove(holder);
      updated.remove(holder);
      holder.onlyIfUnchanged = false;
      deleted.add(holder);
    }
    if (micros > 0) {
      lasting = true;
      closing = true;
      ClaimRow delay = new ClaimRow(nobody.get(), holder.units, holder.delay, holder.client);
      delay.held = true;
      delay.number = holder.number;
      delay.since = holder.since;
      delay.run(now, micros);
      hold(delay);
    }
  }

  private void hold(ClaimRow entry) {
    if (slot == null) {
      slot = entry;
      nameChanged = true;
    } else {
      holders.add(entry);
      insert(entry);
    }
  }

  // Views. --------------------------------------------------------------------------------------

  /**
   * Returns the first waiter if it has to be told: that it could be granted now, or that the name
   * opens sooner than it was told when it joined; else null.
   */
  @Nullable ClaimRow nextInTurn() {
    ClaimRow head = waiters.isEmpty() ? null : waiters.get(0);
    return head != null && (closing || fits(head.units)) ? head : null;
  }

  private boolean fits(Units units) {
    long taken = 0;
    for (ClaimRow holder : allHolders()) {
      taken += holder.units.taken();
    }
    return taken + units.taken() <= units.capacity();
  }

  private void checkFamily(Units units) {
    ClaimRow any = slot != null ? slot : !holders.isEmpty() ? holders.get(0) : null;
    if (any == null && !waiters.isEmpty()) {
      any = waiters.get(0);
    }
    if (any != null && any.units.capacity() != units.capacity()) {
      throw Refusals.otherKind(name, units.family(), any.units.family());
    }
  }

  private Obstacle obstacle() {
    ClaimRow first = slot != null ? slot : holders.isEmpty() ? null : holders.get(0);
    return first == null
        ? Obstacle.UNKNOWN
        : new Obstacle(
            first.clientInfo().label(), first.number, Duration.ofNanos((first.ends - now) * 1_000));
  }

  private List<ClaimRow> allHolders() {
    if (slot == null) {
      return holders;
    }
    List<ClaimRow> all = new ArrayList<>(holders.size() + 1);
    all.add(slot);
    all.addAll(holders);
    return all;
  }

  private @Nullable ClaimRow holder(byte[] owner) {
    if (slot != null && slot.isOf(owner)) {
      return slot;
    }
    return find(holders, owner);
  }

  private @Nullable ClaimRow waiter(byte[] owner) {
    return find(waiters, owner);
  }

  private static @Nullable ClaimRow find(List<ClaimRow> entries, byte[] owner) {
    for (ClaimRow entry : entries) {
      if (entry.isOf(owner)) {
        return entry;
      }
    }
    return null;
  }

  // Changes. ------------------------------------------------------------------------------------

  private void changed(ClaimRow entry) {
    if (entry == slot) {
      nameChanged = true;
    } else if (!updated.contains(entry)) {
      updated.add(entry);
    }
  }

  private void insert(ClaimRow entry) {
    inserted.add(entry);
    nameChanged = true;
  }

  @Nullable ClaimRow slot() {
    return slot;
  }

  boolean isNameChanged() {
    return nameChanged || !deleted.isEmpty();
  }

  /**
   * Whether it must be on disk when it is answered: someone is told that it holds the name, or that
   * the name stays closed.
   */
  boolean mustLast() {
    return lasting;
  }

  List<ClaimRow> inserted() {
    return inserted;
  }

  List<ClaimRow> updated() {
    return updated;
  }

  List<ClaimRow> deleted() {
    return deleted;
  }
}
