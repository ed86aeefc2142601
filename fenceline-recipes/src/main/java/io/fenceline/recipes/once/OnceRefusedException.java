package io.fenceline.recipes.once;

import io.fenceline.settings.InvalidSettingException;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Work that is not done again, or whose result was not stored, with the reason. */
public final class OnceRefusedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Why. */
  public enum Reason {
    /**
     * The work failed before, in a way that was declared a result: {@link #failure} is its kind.
     */
    FAILED_BEFORE,
    /** Another one works on the key now; ask again later. */
    UNDER_WAY,
    /** A worker of the key has vanished, and nobody has settled whether it had an effect. */
    IN_DOUBT,
    /** The key was used for another request before. */
    OTHER_REQUEST,
    /** This worker was overtaken: its result was not stored, and what it wrote in SQL is undone. */
    OVERTAKEN,
    /** The work is done, but its result can't be stored: too large, or the codec failed. */
    NO_RESULT,
    /** There is nothing to settle: the key is not begun by the worker of that token. */
    NOT_IN_DOUBT
  }

  private final Reason reason;
  private final String key;
  private final long token;
  private final @Nullable Instant since;
  private final @Nullable String failure;

  OnceRefusedException(
      Reason reason,
      String key,
      long token,
      @Nullable Instant since,
      String message,
      @Nullable Throwable cause) {
    this(reason, key, token, since, null, message, cause);
  }

  private OnceRefusedException(
      Reason reason,
      String key,
      long token,
      @Nullable Instant since,
      @Nullable String failure,
      String message,
      @Nullable Throwable cause) {
    super(message, cause);
    this.reason = reason;
    this.key = key;
    this.token = token;
    this.since = since;
    this.failure = failure;
  }

  static OnceRefusedException failedBefore(
      String key, Entry entry, String failure, String message) {
    return new OnceRefusedException(
        Reason.FAILED_BEFORE, key, entry.token(), entry.since(), failure, message, null);
  }

  static OnceRefusedException of(Reason reason, String key, @Nullable Entry entry, String meaning) {
    String figures =
        entry == null
            ? ""
            : " (token=%d, attempts=%d, since=%s, worker=%s)"
                .formatted(entry.token(), entry.attempts(), entry.since(), entry.worker());
    return new OnceRefusedException(
        reason,
        key,
        entry == null ? 0 : entry.token(),
        entry == null ? null : entry.since(),
        "Key '%s' %s%s".formatted(key, meaning, figures),
        null);
  }

  static InvalidSettingException invalidKey(String shown, String problem, int bytes, int limit) {
    return new InvalidSettingException(
        "key", "'" + shown + "'", "%s (bytes=%d, limit=%d)".formatted(problem, bytes, limit));
  }

  /** Why. */
  public Reason reason() {
    return reason;
  }

  /** Returns which key. */
  public String key() {
    return key;
  }

  /**
   * Returns the token of the worker in the record, for {@link Once#settle}; 0 if there is no
   * record.
   */
  public long token() {
    return token;
  }

  /** Returns when that worker began. */
  public Optional<Instant> since() {
    return Optional.ofNullable(since);
  }

  /**
   * The class of the exception that the worker threw, if that is stored as the result; the message
   * is that exception's.
   */
  public Optional<String> failure() {
    return Optional.ofNullable(failure);
  }
}
