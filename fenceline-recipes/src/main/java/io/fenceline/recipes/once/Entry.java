package io.fenceline.recipes.once;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The record of one key.
 *
 * @param fingerprint of the request, in hexadecimal
 * @param token of the worker that began last, or has finished
 * @param result of a key that is finished
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record Entry(
    OnceReport.State state,
    String fingerprint,
    long token,
    int attempts,
    Instant since,
    String worker,
    byte @Nullable [] result) {

  boolean isFinished() {
    return state != OnceReport.State.BEGUN;
  }

  boolean isBegunBy(long worker) {
    return state == OnceReport.State.BEGUN && token == worker;
  }
}
