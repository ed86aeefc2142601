package io.fenceline.recipes.once;

import java.time.Instant;

/**
 * What is known of a key.
 *
 * @param key the key
 * @param state how far it is
 * @param token of the worker that began last, or has finished
 * @param attempts how many workers have begun
 * @param since when the last of them began, by the clock of the records
 * @param worker what the client of that worker calls itself
 */
public record OnceReport(
    String key, State state, long token, int attempts, Instant since, String worker) {

  /** How far a key is. */
  public enum State {
    /**
     * A worker has begun. Whether it still works is known by its lock alone: nobody else gets that
     * while it does.
     */
    BEGUN(1),
    /** The result is stored. */
    DONE(2),
    /** The work has failed in a way that was declared a result. */
    FAILED(3);

    private final int code;

    State(int code) {
      this.code = code;
    }

    /** As it is stored. */
    int code() {
      return code;
    }

    static State of(int code) {
      for (State state : values()) {
        if (state.code == code) {
          return state;
        }
      }
      throw new IllegalStateException("A record has the unknown state " + code);
    }
  }
}
