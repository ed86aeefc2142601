package io.fenceline.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.fenceline.FencingToken;
import io.fenceline.Hold;
import io.fenceline.LockLostException;
import io.fenceline.StaleTokenException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.event.LossReason;
import io.fenceline.fence.Fence;
import io.fenceline.fence.FenceListener;
import io.fenceline.fence.FenceNotices;
import io.fenceline.settings.Durations;
import io.fenceline.spi.Causes;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Refuses writers that were overtaken, in the transaction that writes to etcd.
 *
 * <pre>{@code
 * EtcdFence fence = EtcdFence.over(client);
 * fence.put("/shop/prices", bytes, hold.fencingToken());
 * }</pre>
 *
 * <p>Each write is one transaction, which compares the token with the marks of the resource,
 * advances them and writes. The marks are two keys of 19 digits, {@code /fenceline-fence/} followed
 * by the resource and {@code !a} or {@code !x}; being of one width, they compare like numbers.
 *
 * <p>A write that had no answer may still be done later: a jetcd client keeps requests while etcd
 * is away, unless it was built with {@code waitForReady(false)}, and etcd finishes what it has
 * accepted. It is refused once a later write of the same process has passed, with the same
 * exclusive token or a larger one; the marks then have a second number, after a dot. Writes with a
 * shared token, and those of several processes with one token, are not kept in order like this:
 * there, only a larger token keeps a late write out.
 *
 * <p>That the lock's own key still exists is not enough, since a local hand-off keeps it; {@link
 * #whileHeld} asks for that in addition. The client is yours; no connection of Fenceline is needed.
 * Two small keys are kept for each resource, also after {@link #delete}: delete them when no writer
 * of the resource can be left. Immutable: each setting gives a changed copy. Thread-safe.
 */
public final class EtcdFence {
  private static final Duration USUAL_TIMEOUT = Duration.ofSeconds(10);
  private static final int GRANT_BITS = 8;

  /**
   * How many writes of this process had no answer, or more: see {@link FenceTxn}. One number for
   * all fences, since the next write of a holder may be made by another one.
   */
  private static final AtomicLong UNANSWERED = new AtomicLong();

  private final Client client;
  private final String root;
  private final Duration timeout;
  private final FenceNotices notices;
  private final @Nullable Lock lock;

  /** A lock whose key has to be there, too. */
  private record Lock(Hold hold, FenceTxn.Held held) {}

  private EtcdFence(
      Client client, String root, Duration timeout, FenceNotices notices, @Nullable Lock lock) {
    this.client = client;
    this.root = root;
    this.timeout = timeout;
    this.notices = notices;
    this.lock = lock;
  }

  /** Returns the fence with marks below {@code /fenceline-fence}. */
  public static EtcdFence over(Client client) {
    return new EtcdFence(
        Objects.requireNonNull(client, "client"),
        "/fenceline-fence",
        USUAL_TIMEOUT,
        FenceNotices.of("etcd"),
        null);
  }

  /** Sets the prefix of the keys of the marks. */
  public EtcdFence root(String prefix) {
    return new EtcdFence(client, prefix, timeout, notices, lock);
  }

  /** Sets how long a blocking call waits for etcd; 10 seconds by default. */
  public EtcdFence timeout(Duration limit) {
    return new EtcdFence(client, root, Durations.checkPositive("timeout", limit), notices, lock);
  }

  /** Tells one more listener what is accepted and refused. */
  public EtcdFence listener(FenceListener listener) {
    return new EtcdFence(client, root, timeout, notices.with(listener), lock);
  }

  /** As {@link #whileHeld(Hold, String, long)}, for a client with default settings. */
  public EtcdFence whileHeld(Hold hold) {
    return whileHeld(hold, EtcdAddress.DEFAULT_ROOT, 0);
  }

  /**
   * Also asks, in the same transaction, that the key of this hold is still there; otherwise writes
   * fail with {@link LockLostException}. It finds the key by one read.
   *
   * @param lockRoot what the keys of the locks start with
   * @param tokenBase what the lock's client adds to its tokens
   */
  public EtcdFence whileHeld(Hold hold, String lockRoot, long tokenBase) {
    long revision = (hold.token() >> GRANT_BITS) - tokenBase;
    GetOption claims = GetOption.builder().isPrefix(true).build();
    ByteSequence prefix = new Layout(lockRoot).name(hold.name());
    for (KeyValue claim : await(client.getKVClient().get(prefix, claims)).getKvs()) {
      if (claim.getCreateRevision() == revision) {
        Entry.Value value = value(claim);
        if (value.hasEnded()) {
          break; // Given back or taken away; what is there only keeps the name closed.
        }
        FenceTxn.Held held = new FenceTxn.Held(claim.getKey(), revision, value.ended().bytes());
        return new EtcdFence(client, root, timeout, notices, new Lock(hold, held));
      }
    }
    throw lost(hold);
  }

  /**
   * Puts a key.
   *
   * @throws StaleTokenException if a larger token has passed before; nothing was written
   * @throws StoreUnavailableException if etcd gave no answer; it may have been written
   */
  public void put(String key, byte[] value, FencingToken token) {
    commit(key, token, List.of(Op.put(bytes(key), ByteSequence.from(value), PutOption.DEFAULT)));
  }

  /**
   * Deletes a key; its marks stay, so that no stale writer puts it again.
   *
   * @throws StaleTokenException if a larger token has passed before; nothing was deleted
   * @throws StoreUnavailableException if etcd gave no answer; it may have been deleted
   */
  public void delete(String key, FencingToken token) {
    commit(key, token, List.of(Op.delete(bytes(key), DeleteOption.DEFAULT)));
  }

  /**
   * Does operations of yours in one transaction, if the token passes.
   *
   * @param resource whose marks decide
   * @throws StaleTokenException if a larger token has passed before; nothing was done
   * @throws StoreUnavailableException if etcd gave no answer; they may have been done
   */
  public void commit(String resource, FencingToken token, List<? extends Op> operations) {
    await(commitAsync(resource, token, operations));
  }

  /**
   * As {@link #commit}, without blocking. Cancel the future if you give the write up: whatever you
   * write afterwards then keeps it out, if it has not been done by then.
   */
  public CompletableFuture<Void> commitAsync(
      String resource, FencingToken token, List<? extends Op> operations) {
    Write write = new Write(resource, Objects.requireNonNull(token, "token"), operations);
    write.send(UNANSWERED.get());
    return write;
  }

  /** One write on its way, and what becomes of it. */
  private final class Write extends CompletableFuture<Void> {
    private final String resource;
    private final FencingToken token;
    private final List<? extends Op> operations;
    private boolean isGivenUp;

    Write(String resource, FencingToken token, List<? extends Op> operations) {
      this.resource = resource;
      this.token = token;
      this.operations = operations;
    }

    void send(long unanswered) {
      FenceTxn txn = new FenceTxn(root + "/" + resource, token, unanswered, operations);
      CompletableFuture<TxnResponse> answer =
          lock == null
              ? txn.commit(client.getKVClient().txn())
              : txn.commitWhile(client.getKVClient().txn(), lock.held);
      answer.whenComplete(
          (response, failure) -> {
            try {
              if (failure == null) {
                judge(response);
              } else {
                completeExceptionally(failure);
              }
            } catch (StaleTokenException | LockLostException verdict) {
              super.completeExceptionally(verdict);
            } catch (RuntimeException e) {
              completeExceptionally(e);
            }
          });
    }

    private void judge(TxnResponse response) {
      TxnResponse judged = response;
      if (lock != null) {
        if (!response.isSucceeded()) {
          throw lost(lock.hold);
        }
        judged = response.getTxnResponses().get(0);
      }
      FenceTxn.Mark mark = FenceTxn.refusedBy(judged);
      if (mark == null) {
        notices.accepted(resource, token);
        complete(null);
      } else if (mark.token() == token.value()) {
        sendAgain(mark.unanswered());
      } else {
        throw notices.refused(resource, token, mark.token());
      }
    }

    /** Goes on from the number of another process that has the same token. */
    private void sendAgain(long theirs) {
      long unanswered;
      synchronized (this) {
        if (isGivenUp) {
          return; // It was refused by what its own caller has written since.
        }
        unanswered = UNANSWERED.accumulateAndGet(theirs, Math::max);
      }
      send(unanswered);
    }

    /** Before the caller hears of it, and writes again; all that was sent has a smaller number. */
    private synchronized void giveUp() {
      isGivenUp = true;
      UNANSWERED.incrementAndGet();
    }

    @Override
    public boolean completeExceptionally(Throwable failure) {
      giveUp();
      return super.completeExceptionally(failure);
    }

    @Override
    public boolean cancel(boolean mayInterrupt) {
      giveUp();
      return super.cancel(mayInterrupt);
    }
  }

  /**
   * Returns the fence alone, where what is guarded is not in etcd. Check and write are then two
   * steps: see {@link Fence}.
   */
  public Fence asFence() {
    return (resource, token) -> commit(resource, token, List.of());
  }

  private static Entry.Value value(KeyValue claim) {
    try {
      return Entry.of(claim).value();
    } catch (Entry.ForeignKeyException e) {
      throw new StoreUnavailableException(
          "etcd", "The key of a lock can't be read: " + e.getMessage(), e);
    }
  }

  private static LockLostException lost(Hold hold) {
    return new LockLostException(
        hold.name(),
        hold.token(),
        LossReason.GONE,
        hold.lease().minus(hold.remaining()),
        hold.lease(),
        "etcd");
  }

  private <T> T await(CompletableFuture<T> answer) {
    try {
      return answer.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      Throwable cause = Causes.unwrap(e.getCause() == null ? e : e.getCause());
      if (cause instanceof StaleTokenException stale) {
        throw stale;
      }
      if (cause instanceof LockLostException lost) {
        throw lost;
      }
      throw new StoreUnavailableException("etcd", "A guarded write failed: " + cause, cause);
    } catch (TimeoutException e) {
      answer.cancel(true);
      throw new StoreUnavailableException(
          "etcd", "A guarded write was not answered; it may have been done", e);
    } catch (InterruptedException e) {
      answer.cancel(true);
      Thread.currentThread().interrupt();
      throw new StoreUnavailableException(
          "etcd", "Interrupted while a guarded write was under way; it may have been done", e);
    }
  }

  private static ByteSequence bytes(String text) {
    return ByteSequence.from(text, StandardCharsets.UTF_8);
  }
}
