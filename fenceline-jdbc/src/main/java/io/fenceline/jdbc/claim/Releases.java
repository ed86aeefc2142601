package io.fenceline.jdbc.claim;

import io.fenceline.jdbc.sql.SqlConnection;
import io.fenceline.jdbc.waiting.Waiters;
import io.fenceline.spi.Release;
import io.fenceline.spi.ReleaseRequest;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;

/** Gives grants back, and tells the first who waits. */
public final class Releases {
  private static final byte[] NOBODY = new byte[0];

  private final ClaimContext context;

  public Releases(ClaimContext context) {
    this.context = context;
  }

  public CompletableFuture<Release> release(ReleaseRequest request) {
    return context.requests().answer(otherwise(request), db -> release(db, request));
  }

  /** As {@link #release}, on a thread that waits for the answer. */
  public CompletableFuture<Release> releaseHere(ReleaseRequest request) {
    return context.requests().answerHere(otherwise(request), false, db -> release(db, request));
  }

  private static String otherwise(ReleaseRequest request) {
    return "A release of lock '" + request.grant().claim().name() + "' failed";
  }

  private Release release(SqlConnection db, ReleaseRequest request) throws SQLException {
    String name = request.grant().claim().name();
    byte[] owner = request.grant().claim().owner().bytes();
    boolean keepsClosed = !request.keepClosed().isZero();
    FastPath.Freed freed = keepsClosed ? null : context.fastPath().release(db, name, owner);
    if (freed != null) {
      tell(freed);
      return Release.RELEASED;
    }
    Release answer =
        context
            .names()
            .decide(
                db, name, owner, keepsClosed, found -> found.release(owner, request.keepClosed()));
    return answer == null ? Release.GONE : answer;
  }

  private void tell(FastPath.Freed freed) {
    Waiters waiters = context.waiters();
    if (freed.next() != null) {
      waiters.tell(freed.next(), freed.whose());
    } else if (freed.hasOthers()) {
      waiters.lookSoon();
    }
  }

  /** Ends the grant with this number, whoever has it; gives whether there was one. */
  public CompletableFuture<Boolean> forceRelease(String name, long number) {
    return context
        .requests()
        .answer(
            "A forced release of lock '" + name + "' failed",
            db -> {
              Boolean done =
                  context
                      .names()
                      .decide(db, name, NOBODY, true, found -> found.forceRelease(number));
              return done != null && done;
            });
  }
}
