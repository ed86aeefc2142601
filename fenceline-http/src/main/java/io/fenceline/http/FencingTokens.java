package io.fenceline.http;

import io.fenceline.FencingToken;
import io.fenceline.StaleTokenException;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.GrantNumbers;
import io.fenceline.spi.TokenFormat;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The header by which a client sends its token along with a write.
 *
 * <pre>{@code
 * HttpRequest request =
 *     FencingTokens.put(HttpRequest.newBuilder(uri).PUT(body), hold.fencingToken()).build();
 * FencingTokens.requireAccepted(http.send(request, BodyHandlers.ofString()), hold.fencingToken());
 * }</pre>
 *
 * <p>The convention, for clients and servers of any language:
 *
 * <ul>
 *   <li>{@code Fencing-Token: 34} is the token of an exclusive hold, a decimal number from 1 to
 *       2^63-1; {@code Fencing-Token: 34; shared} that of a shared one. One value, once.
 *   <li>A server that has accepted a larger token for the resource answers {@code 409 Conflict} and
 *       changes nothing; {@code Fencing-Token-Accepted} has the larger token.
 *   <li>A server that needs a token and got none answers {@code 428 Precondition Required}.
 *   <li>All answers of this kind are {@code application/problem+json}: see {@link Problem}.
 * </ul>
 *
 * <p>A proxy that repeats a request does no harm, since the same token passes again.
 */
public final class FencingTokens {
  /** The header of a request. */
  public static final String HEADER = "Fencing-Token";

  /** The header of an answer to a stale token. */
  public static final String ACCEPTED_HEADER = "Fencing-Token-Accepted";

  private static final int CONFLICT = 409;
  private static final int SHOWN = 40;
  private static final Pattern VALUE =
      Pattern.compile("\\s*(?<number>[1-9][0-9]{0,18})\\s*(?<shared>;\\s*shared\\s*)?");

  private FencingTokens() {}

  /** Returns the value of the header for a token. */
  public static String format(FencingToken token) {
    return token.exclusive() ? Long.toString(token.value()) : token.value() + "; shared";
  }

  /**
   * Returns the token that a value of the header stands for.
   *
   * @throws InvalidSettingException if it is none
   */
  public static FencingToken parse(String value) {
    Matcher matcher = VALUE.matcher(value);
    if (matcher.matches()) {
      try {
        long number = Long.parseLong(matcher.group("number"));
        return new FencingToken(number, matcher.group("shared") == null);
      } catch (NumberFormatException e) {
        // Above 2^63: as wrong as anything else.
      }
    }
    String shown = value.length() > SHOWN ? value.substring(0, SHOWN) + "…" : value;
    throw new InvalidSettingException(
        HEADER,
        "'" + shown + "'",
        "it must be a number from 1 to 2^63-1, followed by '; shared' if it is the token of a shared lock");
  }

  /**
   * Returns the largest token that locks in Redis or SQL can have issued by now, for {@link
   * FencingTokenFilter#maxToken}: their numbers follow the clock of the server.
   *
   * <p>Not for ZooKeeper and etcd, whose numbers count writes and elections, nor with a {@code
   * tokenBase}.
   *
   * @param clock of this service
   * @param ahead how far the clock of the locks' server may be ahead of it; some minutes, since a
   *     bound that is too tight refuses honest writers
   */
  public static LongSupplier issuedByClock(InstantSource clock, Duration ahead) {
    Objects.requireNonNull(clock, "clock");
    Objects.requireNonNull(ahead, "ahead");
    return () -> {
      long number = GrantNumbers.atMillis(clock.millis() + ahead.toMillis());
      return TokenFormat.of(number, TokenFormat.MOST_HAND_OFFS);
    };
  }

  /** Sends a token along with a request. */
  public static HttpRequest.Builder put(HttpRequest.Builder request, FencingToken token) {
    return request.setHeader(HEADER, format(token));
  }

  /**
   * Returns the answer, unless it says that the token was stale.
   *
   * @throws StaleTokenException if it does; the resource is the path of the request
   */
  public static <T> HttpResponse<T> requireAccepted(HttpResponse<T> response, FencingToken token) {
    if (response.statusCode() == CONFLICT) {
      response
          .headers()
          .firstValue(ACCEPTED_HEADER)
          .ifPresent(
              accepted -> {
                throw new StaleTokenException(
                    response.uri().getPath(), token, parse(accepted).value());
              });
    }
    return response;
  }
}
