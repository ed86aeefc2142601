package io.fenceline.http;

import io.fenceline.LockTimeoutException;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Answers with a {@link Problem} from a servlet.
 *
 * <pre>{@code
 * try (Hold hold = lock.acquire(Duration.ofMillis(200))) {
 *   // …
 * } catch (LockTimeoutException e) {
 *   ServletProblems.lockNotHad(response, e);
 * }
 * }</pre>
 */
public final class ServletProblems {
  private ServletProblems() {}

  /** 409 with {@code Retry-After}, when a lock could not be had. */
  public static void lockNotHad(HttpServletResponse response, LockTimeoutException e)
      throws IOException {
    send(response, Problem.lockNotHad(e));
  }

  /** Answers with any problem. */
  public static void send(HttpServletResponse response, Problem problem) throws IOException {
    byte[] body = problem.json().getBytes(StandardCharsets.UTF_8);
    response.resetBuffer();
    response.setStatus(problem.status());
    problem.headers().forEach(response::setHeader);
    OutputStream out;
    try {
      out = response.getOutputStream();
    } catch (IllegalStateException e) {
      // Whoever was here before has asked for the writer, and chosen its characters; ASCII fits
      // all.
      response.getWriter().write(problem.json());
      return;
    }
    response.setContentLength(body.length);
    out.write(body);
  }
}
