package io.fenceline.redis.replay;

import io.fenceline.redis.layout.Call;
import io.fenceline.redis.layout.Layout;
import java.util.HexFormat;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * A call of a script as it arrived at a server.
 *
 * @param index its place in the recording
 * @param micros when it arrived, by the server's clock
 * @param call the script, its keys and arguments
 * @param touches what it is meant to do, one for each name and owner in it
 */
public record RecordedRequest(int index, long micros, Call call, List<Touch> touches) {

  /** What a request is for. */
  public enum Purpose {
    /** Asks for a grant. */
    CLAIM,
    /** Writes the token of a majority back, at a node of a Redlock. */
    CONFIRM,
    /** Gives a hold to a node of a Redlock that lacks it. */
    GIFT,
    /** Starts a lease again. */
    RENEW,
    /** Gives back what its sender held. */
    RELEASE,
    /** Makes sure that nothing of a claim is left. */
    WITHDRAW,
    /** Ends a grant by its number. */
    FORCE,
    /** Changes nothing but what time has brought. */
    LOOK
  }

  /**
   * One thing that a request does.
   *
   * @param owner in hexadecimal digits; empty if there is none
   * @param number of the grant to be forced; 0 if there is none
   */
  public record Touch(Purpose purpose, String name, String owner, long number) {
    static Touch of(Purpose purpose, byte[] head, byte[] owner) {
      return new Touch(purpose, Layout.nameOfHead(head), hex(owner), 0);
    }

    boolean is(Purpose wanted, String ofName, String ofOwner) {
      return purpose == wanted && name.equals(ofName) && owner.equals(ofOwner);
    }

    boolean ends(String ofName, String ofOwner) {
      return is(Purpose.RELEASE, ofName, ofOwner) || is(Purpose.WITHDRAW, ofName, ofOwner);
    }
  }

  /** How the scripts of a store are understood, and what they keep of a name is seen. */
  public interface Dialect {
    /** What a call does; empty if it does nothing to a name. */
    List<Touch> touches(Call call);

    /** The same call with other numbers of grants, where it names some: they differ in each run. */
    Call renumbered(Call call, ToLongFunction<Touch> number);

    /** What a server needs before it takes requests: a hash, a field and its value; or nothing. */
    default List<String> start() {
      return List.of();
    }

    /** The keys of a name, for {@link #snapshot}. */
    byte[][] keys(String name);

    /** A call that does what time has brought to a name, and nothing else. */
    Call look(String name);

    /** A script that shows a name; its answer is that of {@code snapshot.lua}. */
    String snapshot();
  }

  public RecordedRequest at(long otherMicros) {
    return new RecordedRequest(index, otherMicros, call, touches);
  }

  public RecordedRequest as(int otherIndex) {
    return new RecordedRequest(otherIndex, micros, call, touches);
  }

  boolean concerns(String owner) {
    return touches.stream().anyMatch(touch -> touch.owner.equals(owner));
  }

  public static String hex(byte[] owner) {
    // Some scripts have the owner with the letter of a holder before it.
    return HexFormat.of().formatHex(owner, owner.length - 16, owner.length);
  }

  @Override
  public String toString() {
    return index + " " + call + " " + touches;
  }
}
