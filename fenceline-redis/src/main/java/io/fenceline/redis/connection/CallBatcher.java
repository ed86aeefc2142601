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
 * The short claims and releases of one wire: those that come while the driver's thread has not got
 * round to writing the one before travel with it, as one script.
 *
 * <p>Nobody waits for anybody: what is asked while the driver is idle is written at once and alone.
 * Under load it is not idle, and most of what a call costs both sides is saved.
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
   * - One request that the server refuses fails those that it travels with: each is repeated alone.
   *   The script does nothing at all in that case, so a release is not told that its grant was gone.
   */

  /** How many travel together; more brought nothing. */
  public static final int LONGEST = 8;

  private static final Call NOTHING = new Call(Script.BATCH, new byte[0][], Layout.bytes(0));

  private final Wire wire;
  private volatile @Nullable Journey boarding;
  private volatile boolean alone;

  /** A call that was asked for, as the answer that it waits for. */
  private static final class Passenger extends CompletableFuture<List<Object>> {
    final Call call;

    Passenger(Call call) {
      this.call = call;
    }
  }

  CallBatcher(Wire wire) {
    this.wire = wire;
  }

  /** Calls a script; together with others, if there are many and it is one of the short ones. */
  CompletableFuture<List<Object>> call(Call call) {
    if (alone || (call.script() != Script.TAKE && call.script() != Script.GIVE)) {
      return wire.call(call);
    }
    Passenger passenger = new Passenger(call);
    Journey next = boarding;
    if (next == null || !next.takes(passenger)) {
      next = new Journey(passenger);
      next.begin();
      boarding = next; // Not before: whoever joins may be withdrawn at once.
    }
    return passenger;
  }

  /** Those who travel together. */
  private final class Journey implements Wire.Late {
    private final Reply<List<Object>> answers;

    // Guarded by this.
    private final List<Passenger> booked = new ArrayList<>(2);
    private @Nullable Call sent;
    private List<Passenger> aboard = List.of();

    Journey(Passenger first) {
      answers = wire.expect(first.call);
      booked.add(first);
    }

    /** One more, unless it is too late for that. */
    synchronized boolean takes(Passenger passenger) {
      return sent == null
          && answers.isBeingSent()
          && booked.size() < LONGEST
          && booked.add(passenger);
    }

    void begin() {
      wire.send(answers, this);
      answers.whenComplete(
          (given, thrown) -> {
            Throwable failure = Failures.unwrapped(thrown);
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
          known = booked.size() == 1 ? booked.get(0).call : together();
        }
        sent = known;
      }
      return known;
    }

    private Call together() {
      List<Passenger> claims = new ArrayList<>(LONGEST);
      List<Passenger> releases = new ArrayList<>(LONGEST);
      for (Passenger passenger : booked) {
        (passenger.call.script() == Script.TAKE ? claims : releases).add(passenger);
      }
      List<byte[]> keys = new ArrayList<>(2 * LONGEST);
      List<byte[]> args = new ArrayList<>(4 * LONGEST + 1);
      args.add(Layout.bytes(claims.size()));
      claims.addAll(releases);
      for (Passenger passenger : claims) {
        Collections.addAll(keys, passenger.call.keys());
        Collections.addAll(args, passenger.call.args());
      }
      aboard = claims;
      return new Call(Script.BATCH, keys.toArray(new byte[0][]), args.toArray(new byte[0][]));
    }

    private synchronized List<Passenger> end() {
      if (sent == null) {
        sent = NOTHING; // It never was, and nobody shall join any more.
      }
      return aboard.isEmpty() ? booked : aboard;
    }

    private void deliver(List<Object> given) {
      List<Passenger> all = end();
      for (int i = 0; i < all.size(); i++) {
        all.get(i).complete(List.of(given.get(i)));
      }
    }

    private void fail(Throwable failure) {
      List<Passenger> all = end();
      if (String.valueOf(failure.getMessage()).startsWith("CROSSSLOT")) {
        alone = true; // A Cluster that does not say so, such as behind a proxy.
      }
      for (Passenger passenger : all) {
        if (all.size() > 1 && failure instanceof RedisCommandExecutionException) {
          Reply.pass(wire.call(passenger.call), passenger);
        } else {
          passenger.completeExceptionally(failure);
        }
      }
    }
  }
}
