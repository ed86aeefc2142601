package io.fenceline.http;

import io.fenceline.LockTimeoutException;
import io.fenceline.StaleTokenException;
import io.fenceline.spi.LockNames;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * An answer that says what went wrong in a form that programs read: RFC 9457.
 *
 * <pre>{@code
 * Problem problem = Problem.staleToken(exception);
 * answer(problem.status(), problem.headers(), problem.json());
 * }</pre>
 *
 * @param status of the answer
 * @param headers of the answer, {@code Content-Type} among them
 * @param members of the body: texts and numbers
 */
public record Problem(int status, Map<String, String> headers, Map<String, Object> members) {
  /** The media type of the body. */
  public static final String MEDIA_TYPE = "application/problem+json";

  private static final String TYPE = "urn:fenceline:problem:";

  /** Keeps copies, in order. */
  public Problem {
    headers = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    members = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(members));
  }

  private static Problem of(int status, String type, String title, String detail) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("type", TYPE + type);
    members.put("title", title);
    members.put("status", status);
    members.put("detail", detail);
    return new Problem(status, Map.of("Content-Type", MEDIA_TYPE), members);
  }

  private Problem member(String name, Object value) {
    Map<String, Object> more = new LinkedHashMap<>(members);
    more.put(name, value);
    return new Problem(status, headers, more);
  }

  private Problem header(String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(headers);
    more.put(name, value);
    return new Problem(status, more, members);
  }

  /**
   * 409: the writer was overtaken. Tokens are texts in the body, because JavaScript rounds numbers
   * above 2^53.
   */
  public static Problem staleToken(StaleTokenException e) {
    return of(409, "stale-token", "The fencing token is stale", String.valueOf(e.getMessage()))
        .member("resource", e.resource())
        .member("offered", Long.toString(e.offered()))
        .member("accepted", Long.toString(e.accepted()))
        .header(FencingTokens.ACCEPTED_HEADER, Long.toString(e.accepted()));
  }

  /** 428: a write without a token, where one is needed. */
  public static Problem tokenRequired() {
    return of(
        428,
        "token-required",
        "A fencing token is required",
        "Acquire the lock of this resource and send its token in the header "
            + FencingTokens.HEADER
            + ".");
  }

  /** 400: a header that is no token. */
  public static Problem malformedToken(String why) {
    return of(400, "malformed-token", "The fencing token is malformed", why);
  }

  /** 404: a write to something that the service has not declared. */
  public static Problem unknownResource() {
    return of(
        404,
        "unknown-resource",
        "There is no guarded resource at this address",
        "This service accepts writes with a fencing token only at the addresses of the resources that it guards.");
  }

  /** 414: a write to something whose name is longer than a fence keeps. */
  public static Problem resourceTooLong() {
    return of(
        414,
        "resource-too-long",
        "The name of the resource is too long",
        "The name of a resource that is guarded by fencing tokens has at most %d bytes, and no control characters."
            .formatted(LockNames.MAX_BYTES));
  }

  /** 503: whether the token is stale could not be found out; nothing was done. */
  public static Problem fenceUnavailable() {
    return of(
            503,
            "fence-unavailable",
            "The fencing token could not be checked",
            "Nothing was written. Try again later.")
        .header("Retry-After", "1");
  }

  /** 409 with {@code Retry-After}: the server itself did not get the lock that it needs. */
  public static Problem lockNotHad(LockTimeoutException e) {
    return lockNotHad(e.name(), e.holderLeaseLeft());
  }

  /**
   * 409 with {@code Retry-After}: the server itself did not get the lock that it needs.
   *
   * @param leaseLeft how long the holder's lease still runs, where known: the time to wait is that
   *     in whole seconds, and at least one
   */
  public static Problem lockNotHad(String lock, Optional<Duration> leaseLeft) {
    long seconds = leaseLeft.map(left -> left.plusMillis(999).toSeconds()).orElse(1L);
    return of(
            409,
            "lock-not-had",
            "The lock is held by another process",
            "Lock '%s' is held by another process.".formatted(lock))
        .member("lock", lock)
        .header("Retry-After", Long.toString(Math.max(1, seconds)));
  }

  /** Returns the body, in ASCII. */
  public String json() {
    StringBuilder json = new StringBuilder("{");
    members.forEach(
        (name, value) -> {
          json.append(json.length() > 1 ? "," : "").append(quoted(name)).append(':');
          json.append(value instanceof Number ? value.toString() : quoted(value.toString()));
        });
    return json.append('}').toString();
  }

  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (c < ' ' || c > '~') {
        quoted.append(String.format("\\u%04x", (int) c));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }
}
