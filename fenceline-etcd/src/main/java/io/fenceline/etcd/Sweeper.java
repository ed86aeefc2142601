package io.fenceline.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Removes the keys that dead claims of this client have left, waiters and holders alike: twice a
 * lease it compares the keys on the session's lease with the claims, deletes keys without a claim,
 * and finds out which holds have lost their key. The keys of a client that has died itself go with
 * its lease, which etcd ends.
 *
 * <p>The list of a lease's keys comes from the leader's memory, and can be a little older than what
 * another server has answered. So it is only a hint: every key that looks wrong is read, and a
 * deletion compares the create revision that was read.
 */
final class Sweeper {
  private final EtcdClient etcd;
  private final Session session;

  // Guarded by this: since when a key may be there that we don't know of; 0 if none.
  private long expectedSince;

  Sweeper(EtcdClient etcd, Session session) {
    this.etcd = etcd;
    this.session = session;
  }

  /** Notes that a key without a claim may turn up. */
  synchronized void expect() {
    if (expectedSince == 0) {
      expectedSince = now();
    }
  }

  private long now() {
    return etcd.context().time().nanos();
  }

  void run() {
    long started = now();
    etcd.timeToLive(session.server.id, true)
        .whenComplete(
            (answer, failure) -> {
              if (failure != null) {
                failed();
                return;
              }
              Set<ByteSequence> there = new HashSet<>();
              answer.getKeys().forEach(key -> there.add(ByteSequence.from(key.getBytes())));
              compare(there, started);
            });
  }

  private void failed() {
    boolean hopeless;
    synchronized (this) {
      hopeless = expectedSince != 0 && now() - expectedSince > 2 * session.lease.toNanos();
    }
    if (hopeless) {
      session.giveUp();
    }
  }

  private void compare(Set<ByteSequence> there, long started) {
    CompletableFuture<?> cleaned =
        CompletableFuture.allOf(
            there.stream()
                .filter(key -> !isWanted(key))
                .map(this::remove)
                .toArray(CompletableFuture<?>[]::new));
    cleaned.whenComplete(
        (done, failure) -> {
          synchronized (this) {
            // What was in doubt before this look, and not long before, may still be under way.
            if (failure == null
                && expectedSince != 0
                && expectedSince < started - session.lease.toNanos()) {
              expectedSince = 0;
            }
          }
        });
    for (ClaimKey claimKey : session.claimKeys()) {
      if (claimKey.held && !there.contains(claimKey.key)) {
        verify(claimKey);
      }
    }
  }

  private boolean isWanted(ByteSequence key) {
    ClaimKey claimKey = session.keyOf(key);
    return claimKey != null && !claimKey.isAbandoned();
  }

  private CompletableFuture<Void> remove(ByteSequence key) {
    return etcd.get(key, GetOption.DEFAULT)
        .thenCompose(
            read -> {
              List<KeyValue> found = read.getKvs();
              if (found.isEmpty()
                  || found.get(0).getLease() != session.server.id
                  || isWanted(key)) {
                return CompletableFuture.completedFuture(null);
              }
              ClaimKey abandoned = session.keyOf(key);
              Cmp unchanged =
                  new Cmp(
                      key,
                      Cmp.Op.EQUAL,
                      CmpTarget.createRevision(found.get(0).getCreateRevision()));
              return etcd.within(
                      etcd.txn(unchanged, List.of(Op.delete(key, DeleteOption.DEFAULT)), List.of()),
                      "A clean-up")
                  .thenAccept(
                      done -> {
                        if (abandoned != null) {
                          session.lost(abandoned);
                        }
                      });
            });
  }

  private void verify(ClaimKey claimKey) {
    etcd.get(claimKey.key, GetOption.DEFAULT)
        .thenAccept(
            read -> {
              boolean ours =
                  read.getKvs().stream()
                      .anyMatch(
                          found ->
                              found.getCreateRevision() == claimKey.created
                                  && found.getLease() == session.server.id);
              if (!ours && session.keyOf(claimKey.key) == claimKey) {
                session.lost(claimKey);
              }
            });
  }
}
