package io.fenceline.redis.connection;

import io.fenceline.redis.layout.Call;
import io.fenceline.redis.layout.Layout;
import io.fenceline.redis.layout.Script;
import io.lettuce.core.RedisCommandExecutionException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Batches short claims and releases: calls that arrive while the driver is still writing the
 * previous one are sent together, as one script.
 *
 * <p>No call waits for another: what is asked while the driver is idle is written at once and
 * alone. Under load it is not idle, and most of what a call costs both sides is saved.
 */
public final class CallBatcher {
  /*
   * Where this could go wrong.
   *
   * - A withdrawal that overtakes its claim would leave a grant that nobody knows of: a claim only
   *   joins a request that was handed to the driver before, so what is asked later comes later.
   * - One whose time is over before it was written must not be sent: all have the time of the first,
   *   and whether it is over is asked by the driver's thread, when it writes. Others join only after
   *   the first was handed to a connection, so their time is cut by what a write takes to begin.
   * - One request that the server refuses fails those that it was sent with: each is repeated alone.
   *   The script does nothing at all in that case, so a release is not told that its grant was gone.
   */

  /** How many are sent together; more brought nothing. */
  public static final int MOST = 8;

  private static final Call NOTHING =
      new Call(Script.BATCH_UNCONTENDED, new byte[0][], Layout.bytes(0));

  private final ScriptConnection connection;
  private volatile @Nullable Batch open;
  private volatile boolean alone;

  /** A call that was asked for, as the answer that it waits for. */
  private static final class Member extends CompletableFuture<List<Object>> {
    final Call call;

    Member(Call call) {
      this.call = call;
    }
  }

  CallBatcher(ScriptConnection connection) {
    this.connection = connection;
  }

  /** Calls a short script; together with others, if there are many. */
  CompletableFuture<List<Object>> call(Call call) {
    if (alone) {
      return connection.call(call);
    }
    Member member = new Member(call);
    Batch next = open;
    if (next == null || !next.takes(member)) {
      next = new Batch(member);
      next.begin();
      open = next; // Not before: whoever joins may be withdrawn at once.
    }
    return member;
  }

  /** Calls that are sent together. */
  private final class Batch implements ScriptConnection.Late {
    private final Reply<List<Object>> answers;

    // Guarded by this.
    private final List<Member> members = new ArrayList<>(2);
    private @Nullable Call sent;
    private List<Member> inOrder = List.of();

    Batch(Member first) {
      answers = connection.expect(first.call);
      members.add(first);
    }

    /** One more, unless it is too late for that. */
    synchronized boolean takes(Member member) {
      return sent == null && answers.isBeingSent() && members.size() < MOST && members.add(member);
    }

    void begin() {
      connection.send(answers, this);
      answers.whenComplete(
          (given, thrown) -> {
            Throwable failure = thrown == null ? null : Failures.unwrapped(thrown);
            if (failure == null) {
              deliver(given);
            } else {
              fail(failure);
            }
          });
    }

    /** The call for all, unless their time is over; called when it is written. */
    @Override
    public synchronized Call call() {
      Call known = sent;
      if (known == null) {
        if (answers.isDone()) {
          known = NOTHING;
        } else {
          known = members.size() == 1 ? members.get(0).call : together();
        }
        sent = known;
      }
      return known;
    }

    private Call together() {
      List<Member> claims = new ArrayList<>(MOST);
      List<Member> releases = new ArrayList<>(MOST);
      for (Member member : members) {
        (member.call.script() == Script.CLAIM_UNCONTENDED ? claims : releases).add(member);
      }
      List<byte[]> keys = new ArrayList<>(2 * MOST);
      List<byte[]> args = new ArrayList<>(4 * MOST + 1);
      args.add(Layout.bytes(claims.size()));
      claims.addAll(releases);
      for (Member member : claims) {
        Collections.addAll(keys, member.call.keys());
        Collections.addAll(args, member.call.args());
      }
      inOrder = claims;
      return new Call(
          Script.BATCH_UNCONTENDED, keys.toArray(new byte[0][]), args.toArray(new byte[0][]));
    }

    private synchronized List<Member> end() {
      if (sent == null) {
        sent = NOTHING; // It never was, and nobody shall join any more.
      }
      return inOrder.isEmpty() ? members : inOrder;
    }

    private void deliver(List<Object> given) {
      List<Member> all = end();
      for (int i = 0; i < all.size(); i++) {
        all.get(i).complete(List.of(given.get(i)));
      }
    }

    private void fail(Throwable failure) {
      List<Member> all = end();
      if (String.valueOf(failure.getMessage()).startsWith("CROSSSLOT")) {
        alone = true; // A Cluster that does not say so, such as behind a proxy.
      }
      for (Member member : all) {
        if (all.size() > 1 && failure instanceof RedisCommandExecutionException) {
          Reply.pass(connection.call(member.call), member);
        } else {
          member.completeExceptionally(failure);
        }
      }
    }
  }
}
