package io.fenceline.redis.redlock;

import io.fenceline.redis.layout.Answers;
import io.fenceline.spi.ClientInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the scripts of a Redlock answer, parsed once. The shapes are those of the scripts' headers.
 */
final class RedlockAnswers {
  private RedlockAnswers() {}

  /** An answer that tells whether the node votes; one that does not is taken care of. */
  interface OfVoter {
    boolean votes();
  }

  /** The answer to {@code redlock-claim.lua}. */
  sealed interface Vote extends OfVoter {
    @Override
    default boolean votes() {
      return true;
    }

    static Vote parse(List<Object> answer) {
      String kind = textAt(answer, 0);
      return switch (kind) {
        case "g" -> new Granted(longAt(answer, 1), longAt(answer, 2) == 1);
        case "r" ->
            new Refused(
                Answers.client(answer.get(1)).label(),
                longAt(answer, 2),
                Duration.ofMillis(longAt(answer, 3)),
                isTentative(answer, 4),
                answer.subList(5, answer.size()).stream()
                    .map(slot -> (int) Answers.number(slot))
                    .toList());
        case "b" -> new NoVote(longAt(answer, 1));
        case "c" -> new OtherMode(longAt(answer, 1));
        case "o" -> new Overflow(longAt(answer, 1));
        case "l" -> new Late();
        default -> throw new IllegalStateException("redlock-claim.lua answered " + kind);
      };
    }
  }

  /**
   * The node granted it.
   *
   * @param confirmed whether an earlier claim of the owner was confirmed there
   */
  record Granted(long number, boolean confirmed) implements Vote {}

  /**
   * Someone is in the way.
   *
   * @param tentative whether that one is not known to hold the name, but may only ask for it, too
   * @param slots all permits that are in use
   */
  record Refused(
      String holder, long number, Duration remaining, boolean tentative, List<Integer> slots)
      implements Vote {}

  /**
   * The node was restarted or emptied, and does not vote yet.
   *
   * @param leftMillis for how long; negative if nobody knows
   */
  record NoVote(long leftMillis) implements Vote {
    @Override
    public boolean votes() {
      return false;
    }
  }

  /** The name is in use as something else. */
  record OtherMode(long total) implements Vote {}

  /** The number does not fit into a token. */
  record Overflow(long number) implements Vote {}

  /** The owner has made another attempt since, or has ended all of them. */
  record Late() implements Vote {}

  /**
   * The answer to {@code redlock-confirm.lua}.
   *
   * @param number the token if it is confirmed, else the largest number that the node has confirmed
   */
  record Confirmation(boolean confirmed, long number, boolean votes) implements OfVoter {
    static Confirmation parse(List<Object> answer) {
      long fate = longAt(answer, 0);
      return new Confirmation(fate == 1, longAt(answer, 1), fate >= 0);
    }
  }

  /**
   * The answer to {@code redlock-end.lua}.
   *
   * @param done whether the node did it
   * @param had whether the node had what was ended by force
   */
  record Ended(boolean done, boolean had) {
    static Ended parse(List<Object> answer) {
      long fate = longAt(answer, 0);
      return new Ended(fate > 0, fate == 2);
    }
  }

  /** The answer to {@code redlock-renew.lua}: which of the holds the node has. */
  record Renewed(boolean votes, List<Boolean> fates) implements OfVoter {
    static Renewed parse(List<Object> answer) {
      List<Boolean> fates = answer.stream().skip(1).map(fate -> Answers.number(fate) == 1).toList();
      return new Renewed(longAt(answer, 0) == 1, fates);
    }

    boolean has(int place) {
      return fates.get(place);
    }
  }

  /** The answer to {@code redlock-restore.lua}: whether the node has it now. */
  record Restored(boolean done, boolean votes) implements OfVoter {
    static Restored parse(List<Object> answer) {
      long fate = longAt(answer, 0);
      return new Restored(fate == 1, fate >= 0);
    }
  }

  /**
   * The answer to {@code redlock-survey.lua}.
   *
   * @param loss which loss of memory keeps the node from voting; empty if it votes
   * @param leftMillis for how long it does not vote; negative if nobody has decided that yet
   * @param late whether half of that time is over
   * @param termMillis the longest term of the grants that it knows and that run
   * @param forced holds that were ended by force
   * @param counters by bucket
   */
  record Memory(
      boolean votes,
      String loss,
      long leftMillis,
      boolean late,
      long termMillis,
      List<Forced> forced,
      Map<Long, Long> counters) {
    static Memory parse(List<Object> answer) {
      List<Forced> forced = new ArrayList<>();
      List<?> owners = (List<?>) answer.get(5);
      for (int i = 0; i + 2 < owners.size(); i += 3) {
        forced.add(
            new Forced((byte[]) owners.get(i), longAt(owners, i + 1), longAt(owners, i + 2)));
      }
      Map<Long, Long> counters = new TreeMap<>();
      List<?> buckets = (List<?>) answer.get(6);
      for (int i = 0; i + 1 < buckets.size(); i += 2) {
        counters.put(longAt(buckets, i), longAt(buckets, i + 1));
      }
      return new Memory(
          longAt(answer, 0) == 1,
          textAt(answer, 1),
          longAt(answer, 2),
          longAt(answer, 3) == 1,
          longAt(answer, 4),
          forced,
          counters);
    }

    /** Whether it is said already until when the node does not vote. */
    boolean isDecided() {
      return leftMillis >= 0;
    }
  }

  /**
   * A hold that was ended by force, and must not be given to a node again.
   *
   * @param owner a secret
   * @param leftMillis for how long its owner may believe in it
   */
  @SuppressWarnings("ArrayRecordComponent") // Passed on, never compared.
  record Forced(byte[] owner, long number, long leftMillis) {
    @Override
    public String toString() {
      return "Forced[number=" + number + ", leftMillis=" + leftMillis + "]";
    }
  }

  /**
   * The answer to {@code redlock-admit.lua}.
   *
   * @param leftMillis for how long the node does not vote yet; 0 if it does, negative if it has
   *     lost its memory again
   */
  record Admitted(long leftMillis) {
    static Admitted parse(List<Object> answer) {
      return new Admitted(longAt(answer, 0));
    }
  }

  /**
   * A row of the answer to {@code redlock-inspect.lua}.
   *
   * @param secret the owner, in hexadecimal digits; never shown
   * @param attempt of the owner
   * @param termMillis how long it runs when it is renewed
   */
  record Row(
      String secret,
      String kind,
      int count,
      int total,
      ClientInfo client,
      long sinceMillis,
      long number,
      long remainingMillis,
      boolean tentative,
      long attempt,
      long termMillis) {
    static List<Row> parse(List<Object> answer) {
      List<Row> rows = new ArrayList<>();
      for (Object each : answer) {
        List<?> row = (List<?>) each;
        rows.add(
            new Row(
                HexFormat.of().formatHex((byte[]) row.get(0)),
                textAt(row, 1),
                (int) longAt(row, 2),
                (int) longAt(row, 3),
                Answers.client(row.get(4)),
                longAt(row, 5),
                longAt(row, 6),
                longAt(row, 7),
                isTentative(row, 8),
                longAt(row, 9),
                longAt(row, 10)));
      }
      return rows;
    }
  }

  private static boolean isTentative(List<?> answer, int place) {
    return textAt(answer, place).equals("t");
  }

  private static long longAt(List<?> answer, int place) {
    return Answers.number(answer.get(place));
  }

  private static String textAt(List<?> answer, int place) {
    return Answers.text(answer.get(place));
  }
}
