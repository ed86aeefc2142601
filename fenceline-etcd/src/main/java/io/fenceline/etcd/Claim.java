package io.fenceline.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.fenceline.StoreUnavailableException;
import io.fenceline.spi.Causes;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Refusals;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The way of one claim: its key is put, and if others are ahead, their end is waited for ({@link
 * Wait}), until it is granted, refused or withdrawn, and its key is known to be gone.
 */
final class Claim {
  /*
   * What would break it, and why it can't:
   *
   * - A grant that nobody wants: an answer that comes after the claim was withdrawn is reported all the
   *   same, and the runtime withdraws once more. Until then the key is unknown to the session, and the
   *   sweep would find it.
   * - A withdrawal that is overtaken by its own claim: it waits until the claim is answered or its time
   *   is over; after that, see above.
   * - A failure that nobody is told, so that nobody asks again: a claim is failed from when the runtime
   *   is told until it asks again, and what fails in between is followed by that.
   * - A slot whose last key comes back: a put that was not answered makes its use doubtful, and the slot
   *   of a doubtful use is not given out again. Should a key of another owner be found in the slot all
   *   the same, the claim takes the next slot.
   * - A grant on a key whose delete is under way: from when the delete is sent, the claim has no place in
   *   line any more, also if the delete is not answered. Asked again, it repeats the delete, and reports
   *   what made it leave once that is answered.
   */

  private enum State {
    ASKING,
    WAITING,
    FAILED,
    GRANTING,
    LEAVING,
    HELD,
    OVER
  }

  final ClaimRequest request;
  private final EtcdClient etcd;
  private final ByteSequence name;
  private final Consumer<Claim> whenOver;
  private final Wait wait;
  private volatile ClaimHandler handler;

  // Guarded by this.
  private State state = State.ASKING;
  private @Nullable ClaimKey key;
  private CompletableFuture<?> asked = CompletableFuture.completedFuture(null);

  // Guarded by this: what is reported once the key is gone; null until its delete is sent.
  private @Nullable Runnable farewell;

  Claim(
      EtcdClient etcd,
      ByteSequence name,
      ClaimRequest request,
      ClaimHandler handler,
      Consumer<Claim> whenOver) {
    this.etcd = etcd;
    this.name = name;
    this.request = request;
    this.handler = handler;
    this.whenOver = whenOver;
    this.wait = new Wait(this, etcd, name);
  }

  synchronized @Nullable ClaimKey key() {
    return key;
  }

  synchronized boolean isHeld() {
    return state == State.HELD;
  }

  // Asking. -------------------------------------------------------------------------------------

  /** Asks for a key in a session. */
  void begin(Session session) {
    ClaimKey opened;
    synchronized (this) {
      if (state != State.ASKING) {
        return;
      }
      opened = session.open(request);
      key = opened;
    }
    ask(opened);
  }

  /** No session could be had. */
  void failedToBegin(Throwable failure) {
    boolean heard;
    synchronized (this) {
      heard = state == State.ASKING;
      if (heard) {
        state = State.OVER;
      }
    }
    if (heard) {
      whenOver.accept(this);
      handler.failed(meaning(failure));
    }
  }

  /** The runtime asks again, since it has heard of a failure. */
  void again(ClaimHandler asking) {
    handler = asking;
    ClaimKey mine;
    State now;
    Runnable left;
    synchronized (this) {
      mine = key;
      now = state;
      left = farewell;
      if (mine != null && now == State.FAILED && left == null) {
        // Not failed any more: what fails from here on has to be told again.
        state = mine.created == 0 ? State.ASKING : State.WAITING;
      }
    }
    if (mine == null) {
      return;
    }
    if (now == State.HELD) {
      asking.granted(new Grant(mine.created, mine.session().validity()));
    } else if (now == State.FAILED && left != null) {
      leave(left);
    } else if (now == State.FAILED && mine.created == 0) {
      ask(mine);
    } else {
      wait.look();
    }
  }

  private void ask(ClaimKey mine) {
    CompletableFuture<TxnResponse> raw = mine.put(name);
    CompletableFuture<TxnResponse> bounded = etcd.within(raw, "The claim of a lock");
    synchronized (this) {
      asked = bounded;
    }
    bounded.whenComplete(
        (answer, failure) -> {
          if (failure == null) {
            heard(mine, answer);
            return;
          }
          Throwable cause = Causes.unwrap(failure);
          if (cause instanceof StoreUnavailableException) {
            mine.doubtful = true;
            if (!raw.isDone()) {
              raw.thenAccept(late -> heard(mine, late));
            }
          }
          if (cause instanceof Failures.LeaseGoneException) {
            mine.session().end();
            // Told by that, unless the session had ended before this claim was put on it.
            lost("its session has ended");
          } else {
            failed(cause);
          }
        });
  }

  private void heard(ClaimKey mine, TxnResponse answer) {
    try {
      answered(mine, answer);
    } catch (Entry.ForeignKeyException e) {
      unreadable(e);
    }
  }

  private void answered(ClaimKey mine, TxnResponse answer) {
    List<GetResponse> reads = answer.getGetResponses();
    if (!answer.isSucceeded()) {
      foundInSlot(mine, LockQueue.found(reads));
      return;
    }
    // The transaction has created the key, so its revision is the key's create revision.
    long created = answer.getHeader().getRevision();
    mine.created = created;
    if (reads.size() == 1 && reads.get(0).getKvs().size() == 1 && !reads.get(0).isMore()) {
      place(LockQueue.ALONE, created, this::grant); // What was read is the own key.
    } else if (LockQueue.isWhole(reads)) {
      place(LockQueue.seen(request.mode(), created, reads), created, this::grant);
    } else {
      wait.look();
    }
  }

  /** The slot was not free: a former sending has put the key, or another claim. */
  private void foundInSlot(ClaimKey mine, List<Entry> found) {
    Entry own =
        found.stream()
            .filter(e -> e.value().secret().equals(request.owner().secret()))
            .findFirst()
            .orElse(null);
    if (own == null) {
      takeNextSlot(mine);
      return;
    }
    mine.created = own.created();
    wait.look();
  }

  /** Another claim's key is in our slot: it was thought to be gone. */
  private void takeNextSlot(ClaimKey taken) {
    taken.doubtful = true;
    Session session = taken.session();
    ClaimKey next;
    synchronized (this) {
      if (state != State.ASKING || key != taken) {
        return;
      }
      next = session.open(request);
      key = next;
    }
    session.abandon(taken);
    ask(next);
  }

  // In line. ------------------------------------------------------------------------------------

  /** The key, while its place in the queue matters; called under the monitor. */
  @Nullable ClaimKey inLine() {
    ClaimKey mine = key;
    return mine != null && isOpen() && mine.created != 0 ? mine : null;
  }

  /** Whether it can still get its turn; called under the monitor. */
  private boolean isOpen() {
    // A key whose delete was sent may go at any time, also if nothing was heard of the delete.
    return farewell == null
        && (state == State.WAITING || state == State.ASKING || state == State.FAILED);
  }

  /** It waits from now on; called under the monitor. False if that is no longer so. */
  boolean startsToWait() {
    if (!isOpen()) {
      return false;
    }
    state = State.WAITING;
    return true;
  }

  void tellWaiting(Obstacle obstacle) {
    handler.waiting(obstacle);
  }

  /** A look has shown what is ahead. */
  void placed(LockQueue line, long revision) {
    // It has shown the own key, too. But where the line is long, those behind need to be told.
    place(line, revision, wait.knowsAll() ? this::grant : wait::takeTurn);
  }

  private void place(LockQueue line, long revision, Runnable turn) {
    boolean open;
    boolean over;
    synchronized (this) {
      open = isOpen();
      over = state == State.OVER;
    }
    if (!open && !over) {
      return;
    }
    if (over) {
      handler.waiting(Obstacle.UNKNOWN); // Late: the runtime withdraws once more.
      return;
    }
    String inUse = line.conflict();
    if (inUse != null) {
      leave(
          () -> handler.failed(Refusals.otherKind(request.name(), request.mode().family(), inUse)));
    } else if (line.hasRoom()) {
      turn.run();
    } else if (!request.waits()) {
      refuse(line);
    } else {
      wait.begin(line, revision);
    }
  }

  /** There is a key in the queue that can't be read, and may be a holder's. */
  void unreadable(Entry.ForeignKeyException e) {
    leave(
        () ->
            handler.failed(
                etcd.unavailable(
                    "Lock '" + request.name() + "' can't be granted: " + e.getMessage(), e)));
  }

  /** Leaves, and asks meanwhile how long the holder's lease still runs. */
  private void refuse(LockQueue line) {
    Entry first = line.first();
    CompletableFuture<Obstacle> obstacle =
        first == null
            ? CompletableFuture.completedFuture(Obstacle.UNKNOWN)
            : etcd.timeToLive(first.leaseId(), false)
                .handle(
                    (left, failure) ->
                        line.obstacle(failure == null ? Inspector.remaining(left) : null));
    leave(() -> obstacle.thenAccept(handler::refused));
  }

  // Ends. ---------------------------------------------------------------------------------------

  /** It has its turn, and its key is there. */
  void grant() {
    ClaimKey mine;
    synchronized (this) {
      mine = inLine();
      if (mine == null) {
        return;
      }
      state = State.GRANTING;
    }
    wait.end();
    Session session = mine.session();
    if (session.isFresh()) {
      granted(mine);
    } else {
      session
          .keepAlive()
          .whenComplete(
              (since, failure) -> {
                if (session.isOpen()) {
                  granted(mine);
                } else {
                  leave(() -> handler.failed(etcd.unavailable("The session has ended", null)));
                }
              });
    }
  }

  private void granted(ClaimKey mine) {
    synchronized (this) {
      if (state != State.GRANTING) {
        return;
      }
      state = State.HELD;
      mine.held = true;
      mine.touch();
    }
    Session session = mine.session();
    if (!session.shared) {
      session.letRun();
    }
    handler.granted(new Grant(mine.created, session.validity()));
  }

  /** Takes the key away again, then reports. */
  private void leave(Runnable report) {
    ClaimKey mine;
    synchronized (this) {
      mine = key;
      boolean open = state == State.GRANTING || isOpen() || farewell == report;
      if (mine == null || !open || state == State.OVER) {
        return; // An answer that comes late must not take the key of a hold away.
      }
      state = State.LEAVING;
      farewell = report;
    }
    wait.end();
    mine.delete()
        .whenComplete(
            (was, failure) -> {
              synchronized (this) {
                if (state != State.LEAVING) {
                  return;
                }
                state = failure == null ? State.OVER : State.FAILED;
              }
              if (failure == null) {
                over();
                report.run();
              } else {
                handler.failed(meaning(failure));
              }
            });
  }

  /** No answer; the key may be there, and keeps its place if it is. */
  void failed(Throwable cause) {
    synchronized (this) {
      if (state != State.ASKING && state != State.WAITING) {
        return;
      }
      state = State.FAILED;
    }
    handler.failed(meaning(cause));
  }

  /** The key is gone, or its session is: whoever still wants the name has to queue anew. */
  void lost(String why) {
    State before;
    synchronized (this) {
      before = state;
      state = State.OVER;
    }
    wait.end();
    over(); // Also if it is over for its holder: only the end of the key is awaited then.
    if (before == State.OVER) {
      return;
    }
    if (before == State.HELD) {
      handler.gone();
    } else {
      handler.failed(
          etcd.unavailable(
              "The claim of lock '" + request.name() + "' has lost its place: " + why, null));
    }
  }

  /** Makes sure that nothing of it is left. */
  CompletableFuture<Void> withdraw() {
    ClaimKey mine;
    CompletableFuture<?> answer;
    synchronized (this) {
      state = State.OVER;
      mine = key;
      answer = asked;
    }
    wait.end();
    if (mine == null) {
      over();
      return CompletableFuture.completedFuture(null);
    }
    return answer
        .handle((given, failure) -> null)
        .thenCompose(ignored -> mine.delete())
        .thenAccept(was -> over());
  }

  /** It is to be released: it is not held any more, whatever the server answers. */
  synchronized void letGo() {
    state = State.OVER;
  }

  void over() {
    ClaimKey mine = key();
    whenOver.accept(this);
    if (mine != null && !mine.session().shared) {
      mine.session().end();
    }
  }

  /** The client is closed; nothing is sent any more. */
  void closed() {
    boolean told;
    synchronized (this) {
      told = state != State.HELD && state != State.OVER;
      state = State.OVER;
    }
    wait.end();
    if (told) {
      handler.failed(etcd.unavailable("The store was closed", null));
    }
  }

  private RuntimeException meaning(Throwable failure) {
    return etcd.told("The claim of lock '" + request.name() + "'", failure);
  }
}
