package io.fenceline.redis.redlock;

import static io.fenceline.redis.replay.RecordedRequest.Purpose.CLAIM;
import static io.fenceline.redis.replay.RecordedRequest.Purpose.CONFIRM;
import static io.fenceline.redis.replay.RecordedRequest.Purpose.FORCE;
import static io.fenceline.redis.replay.RecordedRequest.Purpose.GIFT;
import static io.fenceline.redis.replay.RecordedRequest.Purpose.LOOK;
import static io.fenceline.redis.replay.RecordedRequest.Purpose.RELEASE;
import static io.fenceline.redis.replay.RecordedRequest.Purpose.RENEW;
import static io.fenceline.redis.replay.RecordedRequest.Purpose.WITHDRAW;

import io.fenceline.redis.layout.Answers;
import io.fenceline.redis.layout.Call;
import io.fenceline.redis.layout.Layout;
import io.fenceline.redis.layout.Script;
import io.fenceline.redis.replay.RecordedRequest;
import io.fenceline.redis.replay.RecordedRequest.Purpose;
import io.fenceline.redis.replay.RecordedRequest.Touch;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/** The scripts of one node of a Redlock that votes. */
final class RedlockDialect implements RecordedRequest.Dialect {
  private static final String RUN = "run";

  @Override
  public List<Touch> touches(Call call) {
    byte[][] args = call.args();
    return switch (call.script()) {
      case REDLOCK_CLAIM -> List.of(touch(CLAIM, call, args[2], 0));
      case REDLOCK_CONFIRM -> List.of(touch(CONFIRM, call, args[2], 0));
      case REDLOCK_RESTORE -> List.of(touch(GIFT, call, args[2], 0));
      case REDLOCK_RENEW -> renewals(call);
      case REDLOCK_END -> List.of(end(call));
      case REDLOCK_INSPECT -> List.of(new Touch(LOOK, name(call.keys()[2]), "", 0));
      default -> List.of();
    };
  }

  private static Touch end(Call call) {
    byte[][] args = call.args();
    return switch (Answers.text(args[2])) {
      case "w" -> touch(WITHDRAW, call, args[0], 0);
      case "f" -> touch(FORCE, call, args[0], number(args[5]));
      case "m" -> touch(LOOK, call, args[0], 0);
      default -> touch(RELEASE, call, args[0], 0);
    };
  }

  private static List<Touch> renewals(Call call) {
    List<Touch> all = new ArrayList<>();
    for (int i = 2; i < call.keys().length; i++) {
      String owner = RecordedRequest.hex(call.args()[1 + 3 * (i - 2)]);
      all.add(new Touch(RENEW, name(call.keys()[i]), owner, 0));
    }
    return all;
  }

  private static Touch touch(Purpose purpose, Call call, byte[] owner, long number) {
    return new Touch(purpose, name(call.keys()[2]), RecordedRequest.hex(owner), number);
  }

  private static String name(byte[] key) {
    return Answers.text(key).substring("fl1:r:".length());
  }

  private static long number(byte[] digits) {
    return Long.parseLong(Answers.text(digits));
  }

  @Override
  public Call renumbered(Call call, ToLongFunction<Touch> number) {
    byte[][] args = call.args().clone();
    List<Touch> touches = touches(call);
    switch (call.script()) {
      case REDLOCK_CLAIM -> args[0] = Layout.bytes(RUN);
      case REDLOCK_CONFIRM -> {
        args[0] = Layout.bytes(RUN);
        long ahead = Math.max(0, number(args[4]) - number(args[3]));
        long given = number.applyAsLong(touches.get(0));
        args[3] = Layout.bytes(given);
        args[4] = Layout.bytes(given + ahead);
      }
      case REDLOCK_RENEW -> {
        args[0] = Layout.bytes(RUN);
        for (int i = 0; i < touches.size(); i++) {
          args[2 + 3 * i] = Layout.bytes(number.applyAsLong(touches.get(i)));
        }
      }
      case REDLOCK_RESTORE -> {
        args[0] = Layout.bytes(RUN);
        long held = number.applyAsLong(touches.get(0));
        if (held > 0) {
          args[6] = Layout.bytes(held);
        }
      }
      case REDLOCK_END -> args[5] = Layout.bytes(number.applyAsLong(touches.get(0)));
      default -> {}
    }
    return new Call(call.script(), call.keys(), args);
  }

  @Override
  public List<String> start() {
    return List.of("fl1:r!", "run", RUN);
  }

  @Override
  public byte[][] keys(String name) {
    return RedlockLayout.keys(name);
  }

  @Override
  public Call look(String name) {
    return new Call(Script.REDLOCK_INSPECT, keys(name));
  }

  @Override
  public String snapshot() {
    return Script.load("redlock-snapshot.lua");
  }
}
