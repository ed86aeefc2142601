package io.fenceline.redis.layout;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fenceline.StoreRefusedException;
import io.fenceline.spi.ClaimAnswer;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.GrantNumbers;
import io.fenceline.spi.Mode;
import io.fenceline.spi.NameState;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Owner;
import io.fenceline.spi.Refusals;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalLong;

/**
 * What the scripts answer, in the terms of the SPI. The shapes are those of the scripts' headers.
 */
public final class Answers {
  private Answers() {}

  /**
   * The answer to a claim.
   *
   * @throws StoreRefusedException if the name is in use in another way
   * @throws StoreRefusedException if the numbers are used up
   */
  public static ClaimAnswer claim(ClaimRequest request, List<Object> answer) {
    if (answer.get(0) instanceof Long number) {
      return new ClaimAnswer.Granted(number, request.lease());
    }
    return switch (text(answer.get(0))) {
      case "w" ->
          new ClaimAnswer.Waiting(
              obstacle(answer),
              OptionalLong.of(number(answer.get(2))),
              Duration.ofMillis(number(answer.get(1))));
      case "r" -> new ClaimAnswer.Refused(obstacle(answer));
      case "c" ->
          throw Refusals.otherKind(
              request.name(), request.mode().family(), family(number(answer.get(1))));
      case "o" ->
          throw Refusals.numberTooLarge(request.name(), number(answer.get(1)), GrantNumbers.MAX);
      default -> throw new IllegalStateException("claim.lua answered " + text(answer.get(0)));
    };
  }

  private static Obstacle obstacle(List<Object> answer) {
    if (answer.size() < 6) {
      return Obstacle.UNKNOWN;
    }
    return new Obstacle(
        client(answer.get(3)).label(),
        number(answer.get(4)),
        Duration.ofMillis(number(answer.get(5))));
  }

  public static String family(long total) {
    return total == 0 ? Mode.EXCLUSIVE.family() : Mode.permits(1, (int) total).family();
  }

  public static NameState inspection(String name, List<Object> rows) {
    List<NameState.Holder> holders = new ArrayList<>();
    List<NameState.Waiter> waiters = new ArrayList<>();
    for (Object each : rows) {
      List<?> row = (List<?>) each;
      String id = Owner.idOf(HexFormat.of().formatHex((byte[]) row.get(1)));
      Mode mode = mode(text(row.get(2)), (int) number(row.get(3)), (int) number(row.get(4)));
      ClientInfo client = client(row.get(5));
      Instant since = Instant.ofEpochMilli(number(row.get(6)));
      if (text(row.get(0)).equals("h")) {
        Duration remaining = Duration.ofMillis(number(row.get(8)));
        holders.add(new NameState.Holder(id, client, mode, number(row.get(7)), since, remaining));
      } else {
        waiters.add(new NameState.Waiter(id, client, mode, since));
      }
    }
    holders.sort(Comparator.comparingLong(NameState.Holder::number));
    return new NameState(name, holders, waiters);
  }

  public static Mode mode(String kind, int count, int total) {
    return switch (kind) {
      case "x" -> Mode.EXCLUSIVE;
      case "s" -> Mode.SHARED;
      default -> Mode.permits(count, total);
    };
  }

  /** How a client is written down; neither part has a control character. */
  public static byte[] client(ClientInfo client) {
    return (client.label() + "\n" + client.host() + "\n" + client.pid()).getBytes(UTF_8);
  }

  public static ClientInfo client(Object written) {
    String[] parts = text(written).split("\n", -1);
    if (parts.length != 3 || !parts[2].matches("[0-9]{1,18}")) {
      throw new ForeignContentException("it does not name its client as Fenceline does");
    }
    return new ClientInfo(parts[0], parts[1], Long.parseLong(parts[2]));
  }

  public static long number(Object answer) {
    return (Long) answer;
  }

  public static String text(Object answer) {
    return answer instanceof byte[] bytes ? new String(bytes, UTF_8) : String.valueOf(answer);
  }
}
