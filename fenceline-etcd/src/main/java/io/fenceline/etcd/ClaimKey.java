package io.fenceline.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.fenceline.spi.ClaimRequest;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A key of ours: from before its claim is first sent until it is known to be gone.
 *
 * <p>A slot is used again once the key of its last use is known to be gone and can't come back. It
 * could come back if the transaction that puts it was not answered: then the slot is never used
 * again in its session, and the sweep looks for the key. Nor is it if a delete without a condition
 * was not answered, which might come late and take the key of the next use along.
 */
final class ClaimKey {
  /*
   * A release is a bare delete: the server does that for a third less than for a transaction with a
   * compare, which has it make a copy of all that is not yet on disk. What would break it, and why it
   * can't:
   *
   * - It hits another claim: nobody else puts keys of our lease, and while it is not answered, the slot
   *   is not given out. It is sent once; whatever is sent besides compares.
   * - It is sent for a use whose slot is given out again already: that and the sending are decided under
   *   one monitor.
   * - It hits a key that has ended and only keeps the name closed: that is only there with a lock-delay,
   *   or after a release that asked for it, and then the delete compares.
   *
   * A longer lease takes the place of a fixed one by a move of the key. What would break that:
   *
   * - The move was done, its reply was lost, and the lease that the key has left is renewed: after a move
   *   of unknown outcome the old lease is not trusted any more. The next extension moves the key again,
   *   from wherever it is, to a lease of its own.
   * - A move that was given up arrives later, and puts the key on a lease that is about to end: a move
   *   compares the revision of the key's last change, so that it fails once another one was done.
   * - Two extensions at the same time, whose answers are handled in another order than the server did
   *   them: extensions of one key are done one after the other.
   */

  /** How often a move is sent again because an older one has changed the key in between. */
  private static final int MOVES = 4;

  final ClaimRequest request;
  final ByteSequence key;
  final ByteSequence value;
  final int slot;
  private final EtcdClient etcd;
  private volatile Session session;

  /** The create revision; 0 while it is not known. */
  volatile long created;

  /** Whether a transaction that puts the key has gone unanswered. */
  volatile boolean doubtful;

  /** Whether it is held, as opposed to asked for. */
  volatile boolean held;

  /** When the holder was last heard of. */
  volatile long touchedNanos;

  // Guarded by this.
  private boolean retired;
  private boolean deleteSent;
  private boolean deleteUnanswered;
  private boolean leftBehind;

  // Guarded by this: the revision of the key's last change, as far as we know; 0 for its creation.
  private long changed;

  // Guarded by this: where moves of unknown outcome may have put the key, or may yet put it.
  private final List<Session> perhapsOn = new ArrayList<>();

  // Guarded by this: the extension that was asked for last.
  private CompletableFuture<?> extending = CompletableFuture.completedFuture(null);

  ClaimKey(
      EtcdClient etcd,
      Session session,
      ClaimRequest request,
      ByteSequence key,
      ByteSequence value,
      int slot) {
    this.etcd = etcd;
    this.session = session;
    this.request = request;
    this.key = key;
    this.value = value;
    this.slot = slot;
    touch();
  }

  Session session() {
    return session;
  }

  void touch() {
    touchedNanos = etcd.context().time().nanos();
  }

  /** Whether the holder has not been heard of for longer than any lease store would wait. */
  boolean isAbandoned() {
    return held && etcd.context().time().nanos() - touchedNanos > request.term().toNanos();
  }

  /** Asks for the key, and for what the claim has to know of its name. */
  CompletableFuture<TxnResponse> put(ByteSequence name) {
    List<Op> then = new ArrayList<>();
    then.add(Op.put(key, value, PutOption.builder().withLeaseId(session.server.id).build()));
    then.addAll(LockQueue.firstReads(request.mode(), name));
    return etcd.txn(new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(0)), then, List.of(read()));
  }

  /** Looks whether the key is still there, and what is ahead of it. */
  CompletableFuture<TxnResponse> look(ByteSequence name) {
    return etcd.within(
        etcd.txn(ours(), LockQueue.lookReads(request.mode(), name, created), List.of()),
        "A look at the queue");
  }

  /**
   * Whether the key is there and none of these is. Whoever has seen all that was ahead of it has
   * its turn then: a read, so that a hand-over waits for no disk.
   */
  CompletableFuture<Boolean> isFirst(Map<ByteSequence, Long> ahead) {
    List<Cmp> conditions = new ArrayList<>(ours());
    ahead.forEach(
        (other, revision) ->
            conditions.add(new Cmp(other, Cmp.Op.NOT_EQUAL, CmpTarget.createRevision(revision))));
    return etcd.within(etcd.txn(conditions, List.of(read()), List.of()), "The turn of a claim")
        .thenApply(this::isOnItsLease);
  }

  /**
   * Deletes the key if it is the one of this claim.
   *
   * @return whether it was there
   */
  CompletableFuture<Boolean> delete() {
    return (startsBareDelete() ? bareDelete() : comparedDelete())
        .thenApply(
            was -> {
              session.close(this);
              return was;
            });
  }

  private CompletableFuture<Boolean> bareDelete() {
    return etcd.within(etcd.delete(key), "A release")
        .thenApply(
            was -> {
              synchronized (this) {
                deleteUnanswered = false;
              }
              return was;
            });
  }

  private CompletableFuture<Boolean> comparedDelete() {
    Op delete = Op.delete(key, DeleteOption.DEFAULT);
    return etcd.within(etcd.txn(ours(), List.of(delete), List.of()), "A release")
        .thenApply(TxnResponse::isSucceeded);
  }

  private synchronized boolean startsBareDelete() {
    if (created == 0 || retired || deleteSent || mayHaveEnded()) {
      return false;
    }
    deleteSent = true;
    deleteUnanswered = true;
    return true;
  }

  /**
   * Ends the use.
   *
   * @return whether nothing that was sent for it can touch the next one in its slot
   */
  synchronized boolean retire() {
    retired = true;
    return !doubtful && !deleteUnanswered;
  }

  /**
   * Says in the key that it has had its turn, so that whoever watches it need not look at what is
   * ahead when it ends.
   *
   * @return whether it is there
   */
  CompletableFuture<Boolean> markTurn() {
    // By value: a late one must not bring a key back to the lease that it has left.
    Cmp unmarked = new Cmp(key, Cmp.Op.EQUAL, CmpTarget.value(value));
    Op mark = Op.put(key, holding(), PutOption.builder().withLeaseId(session.server.id).build());
    return etcd.within(etcd.txn(unmarked, List.of(mark), List.of(read())), "The turn of a claim")
        .thenApply(
            answer -> {
              if (answer.isSucceeded()) {
                changedAt(answer.getHeader().getRevision());
              }
              return answer.isSucceeded() || isMarked(answer);
            });
  }

  /** A former sending was done. */
  private boolean isMarked(TxnResponse answer) {
    KeyValue found = own(answer);
    if (found != null) {
      changedAt(found.getModRevision());
    }
    return found != null;
  }

  private ByteSequence holding() {
    return parsed().holding().bytes();
  }

  private Entry.Value parsed() {
    return Entry.Value.parse(value.toString(StandardCharsets.UTF_8));
  }

  // Extensions. ---------------------------------------------------------------------------------

  /** Does one extension after the other. */
  <T> CompletableFuture<T> extending(Supplier<CompletableFuture<T>> extension) {
    CompletableFuture<T> mine = new CompletableFuture<>();
    CompletableFuture<?> before;
    synchronized (this) {
      before = extending;
      extending = mine;
    }
    before.whenComplete(
        (ignored, unheard) ->
            extension
                .get()
                .whenComplete(
                    (done, failure) -> {
                      if (failure == null) {
                        mine.complete(done);
                      } else {
                        mine.completeExceptionally(failure);
                      }
                    }));
    return mine;
  }

  /** Whether a move of unknown outcome may have put the key on another lease, or may yet do so. */
  synchronized boolean mayHaveMoved() {
    return !perhapsOn.isEmpty();
  }

  /**
   * Puts the key on another lease, where it keeps its place.
   *
   * @return whether it was there
   */
  CompletableFuture<Boolean> moveTo(Session target) {
    Session before = session;
    synchronized (this) {
      perhapsOn.add(target);
    }
    return move(target, MOVES)
        .thenApply(
            was -> {
              List<Session> elsewhere;
              synchronized (this) {
                perhapsOn.remove(target);
                elsewhere = List.copyOf(perhapsOn);
                perhapsOn.clear();
              }
              if (was) {
                session = target;
                target.adopt(this);
              }
              before.abandon(this);
              elsewhere.forEach(Session::end);
              return was;
            });
  }

  private CompletableFuture<Boolean> move(Session target, int attempts) {
    List<Cmp> conditions = new ArrayList<>(ours());
    conditions.add(new Cmp(key, Cmp.Op.EQUAL, CmpTarget.modRevision(lastChange())));
    PutOption onTarget = PutOption.builder().withLeaseId(target.server.id).build();
    List<Op> move = List.of(Op.put(key, holding(), onTarget));
    return etcd.within(etcd.txn(conditions, move, List.of(read())), "A move to another lease")
        .thenCompose(
            answer -> {
              if (answer.isSucceeded()) {
                changedAt(answer.getHeader().getRevision());
                return CompletableFuture.completedFuture(true);
              }
              KeyValue found = own(answer);
              if (found == null) {
                return CompletableFuture.completedFuture(false);
              }
              if (attempts == 1) {
                return CompletableFuture.failedFuture(
                    etcd.unavailable(
                        "The key was changed by older requests again and again", null));
              }
              changedAt(found.getModRevision());
              return move(target, attempts - 1);
            });
  }

  private synchronized long lastChange() {
    return changed == 0 ? created : changed;
  }

  private synchronized void changedAt(long revision) {
    changed = revision;
  }

  /**
   * Leaves the key behind without an owner, on a lease that nobody keeps alive.
   *
   * @return whether it was there
   */
  CompletableFuture<Boolean> leaveOn(ServerLease closing) {
    synchronized (this) {
      leftBehind = true;
    }
    PutOption onClosing = PutOption.builder().withLeaseId(closing.id).build();
    Op end = Op.put(key, parsed().ended().bytes(), onClosing);
    return etcd.within(etcd.txn(ours(), List.of(end), List.of()), "A release")
        .thenApply(
            answer -> {
              session.abandon(this);
              return answer.isSucceeded();
            });
  }

  /**
   * Whether the key is there, on the lease of its session.
   *
   * <p>It is read, not only compared: etcd answers a transaction without any read or write from the
   * member's own memory, also where that is cut off from the majority.
   */
  CompletableFuture<Boolean> isThere() {
    return etcd.within(etcd.txn(ours(), List.of(read()), List.of()), "A look at a key")
        .thenApply(this::isOnItsLease);
  }

  private boolean isOnItsLease(TxnResponse answer) {
    KeyValue found = answer.isSucceeded() ? own(answer) : null;
    return found != null && found.getLease() == session.server.id;
  }

  /** The key as it was read, if it is the one of this claim and has not ended; null otherwise. */
  private @Nullable KeyValue own(TxnResponse answer) {
    for (GetResponse read : answer.getGetResponses()) {
      for (KeyValue found : read.getKvs()) {
        Entry entry = Entry.of(found);
        if (entry.created() == created && entry.value().secret().equals(request.owner().secret())) {
          return found;
        }
      }
    }
    return null;
  }

  private Op read() {
    return Op.get(key, GetOption.DEFAULT);
  }

  /** The owner is part of the value, so that both name this claim and no other. */
  private List<Cmp> ours() {
    if (created == 0) {
      return List.of(new Cmp(key, Cmp.Op.EQUAL, CmpTarget.value(value)));
    }
    Cmp same = new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(created));
    if (!mayHaveEnded()) {
      return List.of(same);
    }
    // It keeps its create revision when it is taken away by force, or left behind.
    Cmp owned = new Cmp(key, Cmp.Op.NOT_EQUAL, CmpTarget.value(parsed().ended().bytes()));
    return List.of(same, owned);
  }

  /** Whether it may be there without an owner, to keep the name closed for a while. */
  private synchronized boolean mayHaveEnded() {
    return leftBehind || !request.delay().isZero();
  }
}
