package io.fenceline.http;

import io.fenceline.FencingToken;
import io.fenceline.InvalidSettingException;
import io.fenceline.LockTimeoutException;
import io.fenceline.StaleTokenException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.fence.Fence;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A servlet filter that refuses requests with a stale token.
 *
 * <pre>{@code
 * // The handler checks the token in the transaction that writes: no gap.
 * context.addFilter(FencingTokenFilter.parsing());
 *
 * // The filter checks, where the handler can't.
 * context.addFilter(FencingTokenFilter.checking(JdbcFence.create().over(dataSource)));
 * }</pre>
 *
 * <p>Requests that write (POST, PUT, PATCH, DELETE) need the header {@link FencingTokens#HEADER}
 * and are answered with 428 without it, with 400 if it is malformed, and with 409 if the token is
 * stale; other methods pass with and without. The handler finds the token by {@link #token}. A
 * handler that throws {@link StaleTokenException} or {@link LockTimeoutException} has it turned
 * into 409, the latter with {@code Retry-After}.
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
  private static final Set<String> WRITES = Set.of("POST", "PUT", "PATCH", "DELETE");
  private static final String ATTRIBUTE = FencingToken.class.getName();

  private final @Nullable Fence fence;
  private final Function<HttpServletRequest, String> resource;
  private final boolean required;

  private FencingTokenFilter(
      @Nullable Fence fence, Function<HttpServletRequest, String> resource, boolean required) {
    this.fence = fence;
    this.resource = resource;
    this.required = required;
  }

  /** Reads the token, and leaves it to the handler to check it in the step that writes. */
  public static FencingTokenFilter parsing() {
    return new FencingTokenFilter(null, HttpServletRequest::getRequestURI, true);
  }

  /** Reads the token and checks it before the handler runs. */
  public static FencingTokenFilter checking(Fence fence) {
    return new FencingTokenFilter(
        Objects.requireNonNull(fence, "fence"), HttpServletRequest::getRequestURI, true);
  }

  /** What a request writes to; its path by default. */
  public FencingTokenFilter resource(Function<HttpServletRequest, String> name) {
    return new FencingTokenFilter(fence, Objects.requireNonNull(name, "name"), required);
  }

  /** Lets requests that write pass without a token, too, while not all clients send one. */
  public FencingTokenFilter optional() {
    return new FencingTokenFilter(fence, resource, false);
  }

  /** The token that a request came with, behind the filter. */
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
    boolean writes = WRITES.contains(request.getMethod());
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
    request.setAttribute(ATTRIBUTE, token);
    if (!writes || fence == null) {
      return null;
    }
    try {
      fence.check(resource.apply(request), token);
      return null;
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
