package io.fenceline.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.kv.TxnResponse;
import io.fenceline.spi.Causes;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Mode;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The waiting of a claim: whom it watches, when it looks, and when it has its turn.
 *
 * <p>A watch is a hint; the truth is a transaction that compares the own key. It reads what is
 * ahead when the watch breaks, when one has left that did not have the name, and once a lease.
 * Where the end of the one ahead is a turn by itself, it reads nothing, so that a hand-over costs
 * the same however many wait.
 *
 * <p>State is guarded by the claim's monitor; nobody is told anything under it.
 */
final class Wait {
  /*
   * What would break it, and why it can't:
   *
   * - A lost wake-up: every broken watch is followed by a look, and so is a new one that has begun
   *   after anything was written that we have not seen.
   * - A turn by an event that comes late, of a watch that was given up: each watch remembers what was
   *   seen when it was opened, and that stays true. Who was the only one ahead of us then, is so for
   *   ever; newcomers are behind.
   * - A turn on a key that is gone: it is taken by a transaction that compares the key.
   */

  private final Claim claim;
  private final EtcdClient etcd;
  private final ByteSequence name;
  private final ClaimRequest request;

  // Guarded by the claim.
  private @Nullable KeyWatch watch;
  private @Nullable Map<ByteSequence, Long> ahead;
  private Time.@Nullable Timer poll;
  private boolean asking;
  private boolean lookAgain;

  Wait(Claim claim, EtcdClient etcd, ByteSequence name) {
    this.claim = claim;
    this.etcd = etcd;
    this.name = name;
    this.request = claim.request;
  }

  /** Watches what is in the way, as of a revision. */
  void begin(LockQueue line, long revision) {
    KeyWatch before;
    KeyWatch next = null;
    synchronized (claim) {
      if (!claim.startsToWait()) {
        return;
      }
      before = watch;
      if (before == null || !before.isFor(line.watched())) {
        next = watchFor(line, revision);
        watch = next;
      } else {
        before = null;
      }
      if (ahead == null && request.mode() instanceof Mode.Exclusive) {
        ahead = line.all(); // Newcomers are behind: what is ahead once was all of it, always is.
      }
      pollLater();
    }
    if (before != null) {
      etcd.watches().giveBack(before);
    }
    claim.tellWaiting(line.obstacle());
    if (next != null) {
      next.open();
    }
  }

  private KeyWatch watchFor(LockQueue line, long revision) {
    boolean forOne = line.waitsForOne();
    Map<ByteSequence, Integer> watched = line.watched();
    KeyWatch.Listener woken = end -> woken(end, forOne);
    KeyWatch known = etcd.watches().take(name, watched, revision, woken);
    return known != null ? known : new KeyWatch(etcd, name, watched, line.spare(), revision, woken);
  }

  private void pollLater() {
    if (poll != null) {
      poll.cancel();
    }
    long lease = request.lease().toNanos();
    long pause = lease + (long) (etcd.context().random().nextDouble() * lease / 10);
    Time time = etcd.context().time();
    poll = time.schedule(pause, () -> time.lane(Lane.WORK).execute(this::look));
  }

  /** Whether all that was ahead of this claim when it came has been seen. */
  boolean knowsAll() {
    synchronized (claim) {
      return ahead != null;
    }
  }

  private void woken(KeyWatch.End end, boolean forOne) {
    if (end != KeyWatch.End.UNKNOWN && knowsAll()) {
      checkTurn();
    } else if (end == KeyWatch.End.HANDED_OVER || (end == KeyWatch.End.GONE && forOne)) {
      takeTurn();
    } else {
      look();
    }
  }

  /** Looks at the place in the queue; once more if something has happened meanwhile. */
  void look() {
    ClaimKey mine = startsToAsk();
    if (mine == null) {
      return;
    }
    mine.look(name)
        .whenComplete(
            (answer, failure) -> {
              boolean again = answered();
              if (failure != null) {
                claim.failed(Causes.unwrap(failure));
              } else if (!answer.isSucceeded()) {
                claim.lost("its key is gone");
              } else {
                seen(mine, answer);
                if (again) {
                  look();
                }
              }
            });
  }

  private void seen(ClaimKey mine, TxnResponse answer) {
    LockQueue line;
    try {
      line = LockQueue.seen(request.mode(), mine.created, answer.getGetResponses());
    } catch (Entry.ForeignKeyException e) {
      claim.unreadable(e);
      return;
    }
    claim.placed(line, answer.getHeader().getRevision());
  }

  /** One has gone; grants if that was the last of all that were ahead. */
  private void checkTurn() {
    ClaimKey mine = startsToAsk();
    if (mine == null) {
      return;
    }
    Map<ByteSequence, Long> known;
    synchronized (claim) {
      known = ahead == null ? Map.of() : ahead;
    }
    mine.isFirst(known)
        .whenComplete(
            (first, failure) -> {
              boolean unused = answered();
              if (failure != null) {
                claim.failed(Causes.unwrap(failure));
              } else if (first) {
                claim.grant();
              } else {
                look(); // Someone has given up, or the own key is gone.
              }
            });
  }

  /** Nobody is in the way: takes the name, if the own key is there, and says so in it. */
  void takeTurn() {
    ClaimKey mine = startsToAsk();
    if (mine == null) {
      return;
    }
    CompletableFuture<Boolean> there =
        request.mode() instanceof Mode.Exclusive ? mine.markTurn() : mine.isThere();
    there.whenComplete(
        (is, failure) -> {
          boolean unused = answered();
          if (failure != null) {
            claim.failed(Causes.unwrap(failure));
          } else if (is) {
            claim.grant();
          } else {
            claim.lost("its key is gone");
          }
        });
  }

  /** The key to ask about; null if there is none, or an answer is awaited already. */
  private @Nullable ClaimKey startsToAsk() {
    synchronized (claim) {
      ClaimKey mine = claim.inLine();
      if (mine == null) {
        return null;
      }
      if (asking) {
        lookAgain = true;
        return null;
      }
      asking = true;
      lookAgain = false;
      return mine;
    }
  }

  private boolean answered() {
    synchronized (claim) {
      asking = false;
      return lookAgain;
    }
  }

  /** Nothing is waited for any more. */
  void end() {
    KeyWatch last;
    synchronized (claim) {
      last = watch;
      watch = null;
      if (poll != null) {
        poll.cancel();
        poll = null;
      }
    }
    if (last != null) {
      etcd.watches().giveBack(last);
    }
  }
}
