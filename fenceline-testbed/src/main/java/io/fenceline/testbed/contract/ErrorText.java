package io.fenceline.testbed.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import java.time.Duration;
import java.util.regex.Pattern;

/**
 * A fault, and the one line that says what happened and what to do: a row of a store's table of
 * errors.
 *
 * @param fault what is wrong, for the name of the test
 * @param type what is thrown
 * @param text its message, in which a star stands for anything, and HOST for a host and its port
 * @param cause does what fails
 * @param bound how long that may take
 */
public record ErrorText(
    String fault, Class<? extends Throwable> type, String text, Fault cause, Duration bound) {
  /** How long a row may take; whoever waits for what is refused waits longer. */
  public static final Duration BOUND = Duration.ofSeconds(20);

  /** How long connecting may take with a limit of a second, on a machine that is busy. */
  public static final Duration SOON = Duration.ofSeconds(12);

  /** A row that has the usual time. */
  public ErrorText(String fault, Class<? extends Throwable> type, String text, Fault cause) {
    this(fault, type, text, cause, BOUND);
  }

  /** What a user does that fails. */
  @FunctionalInterface
  public interface Fault {

    /** Does it. */
    void happen() throws Exception;
  }

  /** A row for what the store refuses for good. */
  public static ErrorText refused(String fault, String text, Fault cause) {
    return new ErrorText(fault, StoreRefusedException.class, text, cause);
  }

  /** A row for what the store could not do now. */
  public static ErrorText unavailable(String fault, String text, Fault cause) {
    return new ErrorText(fault, StoreUnavailableException.class, text, cause);
  }

  /** The same row, for what must not take as long. */
  public ErrorText within(Duration limit) {
    return new ErrorText(fault, type, text, cause, limit);
  }

  /** That it fails in time, with the text, and without a secret in any of its causes. */
  public void check(String... secrets) {
    long began = System.nanoTime();
    Throwable thrown = catchThrowable(cause::happen);
    Duration took = Duration.ofNanos(System.nanoTime() - began);
    assertThat(thrown).isInstanceOf(type).hasMessageMatching(pattern());
    assertThat(took).isLessThan(bound);
    for (Throwable each = thrown; each != null; each = each.getCause()) {
      assertThat(each.toString()).doesNotContain(secrets);
    }
  }

  private String pattern() {
    return Pattern.quote(text)
        .replace("*", "\\E.*\\Q")
        .replace("HOST", "\\E127\\.0\\.0\\.1:[0-9]+\\Q");
  }

  @Override
  public String toString() {
    return fault;
  }
}
