package io.fenceline.cli;

import io.fenceline.Fenceline;
import io.fenceline.cli.run.Terminal;
import io.fenceline.cli.text.Message;
import io.fenceline.diagnosis.LockReport;
import io.fenceline.event.Contended;
import io.fenceline.event.LockListener;
import io.fenceline.settings.Durations;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Tells a person at a terminal why nothing happens. */
final class WaitingNotice implements LockListener {
  /** Whoever waits is told who is in the way, also if the store does not say since when. */
  private static final long LOOK_SECONDS = 2;

  private final boolean quiet;
  private final boolean verbose;
  private volatile @Nullable Fenceline fenceline;

  WaitingNotice(boolean quiet, boolean verbose) {
    this.quiet = quiet;
    this.verbose = verbose;
  }

  /** Where to look for how long a lock has been held. */
  void ask(Fenceline connected) {
    fenceline = connected;
  }

  @Override
  public void onContended(Contended event) {
    if (!verbose && (quiet || !Terminal.onStderr())) {
      return;
    }
    Fenceline asked = fenceline;
    if (asked == null) {
      Message.later(text(event, null, Instant.now()));
      return;
    }
    asked
        .inspectAsync(event.name())
        .orTimeout(LOOK_SECONDS, TimeUnit.SECONDS)
        .whenComplete((report, failure) -> Message.later(text(event, report, Instant.now())));
  }

  /** Names the holder, and for how long it has had the lock where the store still shows that. */
  static String text(Contended event, @Nullable LockReport report, Instant now) {
    String waiting = "waiting for lock '" + event.name() + "', held by ";
    if (report != null) {
      for (LockReport.Holder holder : report.holders()) {
        if (event.holder() == null || event.holder().equals(holder.label())) {
          return waiting + holder.label() + " for " + age(holder.since(), now);
        }
      }
    }
    return waiting + (event.holder() == null ? "another" : event.holder());
  }

  /** By the store's clock and ours; where they differ, an age is never below zero. */
  private static String age(Instant since, Instant now) {
    long seconds = Math.max(0, Duration.between(since, now).toSeconds());
    return seconds == 0 ? "0s" : Durations.show(Duration.ofSeconds(seconds)).replace(" ", "");
  }
}
