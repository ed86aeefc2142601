package io.fenceline.http;

import io.fenceline.FencingToken;
import io.fenceline.LockTimeoutException;
import io.fenceline.StaleTokenException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.fence.Fence;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.LockNames;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A servlet filter that refuses requests with a stale token.
 *
 * <pre>{@code
 * // The handler checks the token in the transaction that writes: no gap.
 * context.addFilter(FencingTokenFilter.parsing());
 *
 * // The filter checks, where the handler can't.
 * Fence fence = JdbcFence.create().over(dataSource);
 * context.addFilter(FencingTokenFilter.checking(fence, Resources.at("/accounts/{id}")));
 * }</pre>
 *
 * <p>Requests need the header {@link FencingTokens#HEADER}, except those of methods that only read
 * (GET, HEAD, OPTIONS, TRACE; see {@link #reading}). They are answered with 428 without it, with
 * 400 if it is malformed, and with 409 if the token is stale. A filter that checks answers 404 to a
 * request of which its {@link Resources} know nothing, and 414 where the name is longer than 200
 * bytes. The handler finds the token by {@link #token}. A handler that throws {@link
 * StaleTokenException} or {@link LockTimeoutException} has it turned into 409, the latter with
 * {@code Retry-After}.
 *
 * <p><b>Put it behind authentication</b>, and behind whatever changes a request's method. A token
 * proves nothing of its sender: whoever may send a large one closes the resource for everyone with
 * a smaller one. So tokens are malformed here that locks in Redis or SQL can't have issued by now,
 * by this service's clock and five minutes ({@link FencingTokens#issuedByClock}): a forged token
 * closes its resource for five minutes at most. Locks in ZooKeeper with more than some 200
 * elections, and a {@code tokenBase}, have larger tokens: see {@link #maxToken}.
 *
 * <p>A filter that checks leaves a gap: the request may be overtaken between the check and what its
 * handler writes. It catches writers that were overtaken before they sent, which are most; to catch
 * all, check in the step that writes.
 *
 * <p>The fence has to be shared by all replicas of a service. With a {@link
 * io.fenceline.fence.MemoryFence} in each of two replicas, a stale request that reaches the other
 * one passes.
 *
 * <p>Immutable: each setting gives a changed copy. Thread-safe.
 */
public final class FencingTokenFilter implements Filter {
  private static final Set<String> READING = Set.of("GET", "HEAD", "OPTIONS", "TRACE");
  private static final String ATTRIBUTE = FencingToken.class.getName();

  private static final LongSupplier USUAL_MAX =
      FencingTokens.issuedByClock(InstantSource.system(), Duration.ofMinutes(5));

  /** What is checked, and by what name. */
  private record Checked(Fence fence, Resources resources) {}

  private final @Nullable Checked checked;
  private final Set<String> reading;
  private final LongSupplier maxToken;
  private final boolean required;

  private FencingTokenFilter(
      @Nullable Checked checked, Set<String> reading, LongSupplier maxToken, boolean required) {
    this.checked = checked;
    this.reading = reading;
    this.maxToken = maxToken;
    this.required = required;
  }

  /** Reads the token, and leaves it to the handler to check it in the step that writes. */
  public static FencingTokenFilter parsing() {
    return new FencingTokenFilter(null, READING, USUAL_MAX, true);
  }

  /**
   * Reads the token and checks it before the handler runs.
   *
   * @param resources what can be written here, and by what name tokens of it are remembered
   */
  public static FencingTokenFilter checking(Fence fence, Resources resources) {
    Checked checked =
        new Checked(
            Objects.requireNonNull(fence, "fence"), Objects.requireNonNull(resources, "resources"));
    return new FencingTokenFilter(checked, READING, USUAL_MAX, true);
  }

  /** Lets requests that write pass without a token, too, while not all clients send one. */
  public FencingTokenFilter optional() {
    return new FencingTokenFilter(checked, reading, maxToken, false);
  }

  /** Takes more methods for such that only read, such as {@code PROPFIND} of WebDAV. */
  public FencingTokenFilter reading(String... methods) {
    Set<String> more = new HashSet<>(reading);
    Collections.addAll(more, methods);
    return new FencingTokenFilter(checked, Set.copyOf(more), maxToken, required);
  }

  /**
   * Refuses larger tokens as malformed; by default those that locks in Redis or SQL can't have
   * issued by now. ZooKeeper's tokens grow beyond that after some 200 elections, and others with a
   * {@code tokenBase}: such a service sets a bound of its own, far enough above the tokens of
   * today. A forged token below a fixed bound closes its resource for good.
   */
  public FencingTokenFilter maxToken(long largest) {
    if (largest < 1) {
      throw new InvalidSettingException("maxToken", largest, "it must be at least 1");
    }
    return maxToken(() -> largest);
  }

  /**
   * Refuses larger tokens as malformed, by a bound that may move.
   *
   * @param largest asked for each request; see {@link FencingTokens#issuedByClock}
   */
  public FencingTokenFilter maxToken(LongSupplier largest) {
    return new FencingTokenFilter(
        checked, reading, Objects.requireNonNull(largest, "largest"), required);
  }

  /** Returns the token that a request came with, behind the filter. */
  public static Optional<FencingToken> token(ServletRequest request) {
    return Optional.ofNullable((FencingToken) request.getAttribute(ATTRIBUTE));
  }

  @Override
  public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    if (!(request instanceof HttpServletRequest asked)
        || !(response instanceof HttpServletResponse answer)) {
      chain.doFilter(request, response);
      return;
    }
    Problem problem = judge(asked);
    if (problem != null) {
      ServletProblems.send(answer, problem);
      return;
    }
    try {
      chain.doFilter(request, response);
    } catch (IOException | ServletException | RuntimeException e) {
      Problem told = problem(e);
      if (told == null || answer.isCommitted()) {
        throw e;
      }
      ServletProblems.send(answer, told);
    }
  }

  /** What keeps the request from its handler; null if nothing does. */
  private @Nullable Problem judge(HttpServletRequest request) {
    List<String> values = Collections.list(request.getHeaders(FencingTokens.HEADER));
    boolean writes = !reading.contains(request.getMethod());
    if (values.isEmpty()) {
      return writes && required ? Problem.tokenRequired() : null;
    }
    if (values.size() > 1) {
      return Problem.malformedToken("There is more than one " + FencingTokens.HEADER + " header.");
    }
    FencingToken token;
    try {
      token = FencingTokens.parse(values.get(0));
    } catch (InvalidSettingException e) {
      return Problem.malformedToken(String.valueOf(e.getMessage()));
    }
    long largest = maxToken.getAsLong();
    if (token.value() > largest) {
      return Problem.malformedToken(
          "%d is larger than any token that can have been issued by now; the largest is %d."
              .formatted(token.value(), largest));
    }
    request.setAttribute(ATTRIBUTE, token);
    return writes && checked != null ? check(checked, request, token) : null;
  }

  private static @Nullable Problem check(
      Checked checked, HttpServletRequest request, FencingToken token) {
    String resource = checked.resources.of(request).orElse(null);
    if (resource == null) {
      return Problem.unknownResource();
    }
    try {
      checked.fence.check(LockNames.check(resource), token);
      return null;
    } catch (InvalidSettingException e) {
      return Problem.resourceTooLong();
    } catch (StaleTokenException e) {
      return Problem.staleToken(e);
    } catch (StoreUnavailableException e) {
      return Problem.fenceUnavailable();
    }
  }

  /** What a handler's failure means; null if it is not about locks. */
  private static @Nullable Problem problem(Throwable failure) {
    Throwable cause = failure;
    for (int depth = 0; cause != null && depth < 10; depth++) {
      if (cause instanceof StaleTokenException stale) {
        return Problem.staleToken(stale);
      }
      if (cause instanceof LockTimeoutException timeout) {
        return Problem.lockNotHad(timeout);
      }
      cause = cause.getCause();
    }
    return null;
  }
}
