package io.fenceline.redis.replay;

import static io.fenceline.redis.replay.RecordedRequest.Purpose.CLAIM;
import static io.fenceline.redis.replay.RecordedRequest.Purpose.FORCE;
import static io.fenceline.redis.replay.RecordedRequest.Purpose.LOOK;
import static io.fenceline.redis.replay.RecordedRequest.Purpose.RELEASE;
import static io.fenceline.redis.replay.RecordedRequest.Purpose.RENEW;
import static io.fenceline.redis.replay.RecordedRequest.Purpose.WITHDRAW;

import io.fenceline.redis.layout.Answers;
import io.fenceline.redis.layout.Call;
import io.fenceline.redis.layout.Layout;
import io.fenceline.redis.layout.Script;
import io.fenceline.redis.replay.RecordedRequest.Touch;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/** The scripts of a single server, of Sentinel and of a Cluster. */
public final class RedisDialect implements RecordedRequest.Dialect {

  @Override
  public List<Touch> touches(Call call) {
    byte[] owner = call.args().length == 0 ? new byte[0] : call.args()[0];
    byte[] head = call.keys().length == 0 ? new byte[0] : call.keys()[0];
    return switch (call.script()) {
      case CLAIM_UNCONTENDED, CLAIM -> List.of(Touch.of(CLAIM, head, owner));
      case RELEASE_UNCONTENDED, RELEASE -> List.of(Touch.of(RELEASE, head, owner));
      case WITHDRAW -> List.of(Touch.of(WITHDRAW, head, owner));
      case FORCE -> List.of(new Touch(FORCE, Layout.nameOfHead(head), "", number(owner)));
      case INSPECT -> List.of(new Touch(LOOK, Layout.nameOfHead(head), "", 0));
      case RENEW -> renewals(call);
      case BATCH_UNCONTENDED -> batch(call);
      default -> List.of();
    };
  }

  private static List<Touch> renewals(Call call) {
    int width = (int) number(call.args()[0]);
    List<Touch> all = new ArrayList<>();
    for (int i = 0; i < call.keys().length / width; i++) {
      all.add(Touch.of(RENEW, call.keys()[i * width], call.args()[1 + 3 * i]));
    }
    return all;
  }

  private static List<Touch> batch(Call call) {
    int claims = (int) number(call.args()[0]);
    List<Touch> all = new ArrayList<>();
    for (int i = 0; i < claims; i++) {
      all.add(Touch.of(CLAIM, call.keys()[2 * i], call.args()[1 + 4 * i]));
    }
    for (int i = 2 * claims; i < call.keys().length; i++) {
      all.add(Touch.of(RELEASE, call.keys()[i], call.args()[1 + 4 * claims + i - 2 * claims]));
    }
    return all;
  }

  private static long number(byte[] digits) {
    return Long.parseLong(Answers.text(digits));
  }

  @Override
  public Call renumbered(Call call, ToLongFunction<Touch> number) {
    byte[][] args = call.args().clone();
    List<Touch> touches = touches(call);
    if (call.script() == Script.FORCE) {
      args[0] = Layout.bytes(number.applyAsLong(touches.get(0)));
    } else if (call.script() == Script.RENEW) {
      for (int i = 0; i < touches.size(); i++) {
        args[3 + 3 * i] = Layout.bytes(number.applyAsLong(touches.get(i)));
      }
    }
    return new Call(call.script(), call.keys(), args);
  }

  @Override
  public byte[][] keys(String name) {
    return Layout.place(name).keys();
  }

  @Override
  public Call look(String name) {
    return new Call(Script.INSPECT, keys(name));
  }

  @Override
  public String snapshot() {
    return Script.load("snapshot.lua");
  }
}
