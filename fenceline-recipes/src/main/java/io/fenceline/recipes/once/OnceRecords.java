package io.fenceline.recipes.once;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Where it is kept what is known of the keys: {@link MemoryRecords}, {@link RedisRecords} or {@link
 * SqlRecords}.
 *
 * <p>Records and locks need not be in the same store. Thread-safe.
 *
 * @param <W> what a worker is told
 */
public abstract class OnceRecords<W extends Work> {
  /*
   * Each request may arrive late, after its sender has given up; what it then may do:
   *
   * - begin: makes a record of a worker that is not there. The key looks as if its worker had
   *   vanished, which is the safe side: with RERUN the next one takes it over, with IN_DOUBT it is
   *   refused though nothing happened. It never replaces a finished record, nor a larger token.
   * - finish and clear: touch a record only while it is begun by the very token; a later worker has
   *   another one, and a record that was swept is not made again.
   * - sweep: takes finished records by their age alone, which does not become less.
   *
   * A worker that is overtaken can't finish: begin, by the one who overtakes, changed the token. All
   * are idempotent for one token, so that a driver may send them twice.
   */

  OnceRecords() {}

  /** Names these records in messages. */
  abstract String kind();

  abstract Optional<Entry> find(String name);

  /**
   * Makes a record of a key that has none, or takes one over from a worker that vanished.
   *
   * @param rerun whether to take over
   * @return the record as it is now: begun by this token, or what is in the way
   */
  abstract Entry begin(
      String name, String fingerprint, long token, String worker, boolean rerun, Instant now);

  /**
   * Finishes a record that is begun by a token.
   *
   * @param by the token that it has afterwards
   * @return whether it was, or had been finished by the same before
   */
  abstract boolean finish(String name, long token, long by, Outcome outcome, Instant now);

  /** Removes a record that is begun by a token; whether it was there. */
  abstract boolean clear(String name, long token);

  /** The kind of work, of the name of a record. */
  static String kindOf(String name) {
    return name.substring(0, name.indexOf(':'));
  }

  /**
   * Removes finished records of a kind that are older than this, some at a time, where they don't
   * expire by themselves.
   *
   * @return whether there may be more
   */
  abstract boolean sweep(String kind, Duration retention, Instant now);

  /** What a worker works with, which ends with its work. */
  abstract Session<W> open(Work plain);

  /**
   * What is stored of finished work.
   *
   * @param retention how long it is kept
   */
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  record Outcome(OnceReport.State state, byte[] result, Duration retention) {}

  /** A worker's surroundings. */
  interface Session<W extends Work> extends AutoCloseable {
    W work();

    /** As {@link OnceRecords#finish}, together with the effect where they share a transaction. */
    boolean finish(String name, long token, Outcome outcome, Instant now);

    /** Undoes the effect where it shares a transaction with the record. Ends it otherwise. */
    @Override
    void close();
  }

  /** A session whose effect is elsewhere. */
  static <W extends Work> Session<W> plain(OnceRecords<?> records, W work) {
    return new Session<>() {
      @Override
      public W work() {
        return work;
      }

      @Override
      public boolean finish(String name, long token, Outcome outcome, Instant now) {
        return records.finish(name, token, token, outcome, now);
      }

      @Override
      public void close() {}
    };
  }
}
