package io.fenceline.cli;

import io.fenceline.cli.run.Terminal;
import io.fenceline.event.Contended;
import io.fenceline.event.LockListener;

/** Tells a person at a terminal why nothing happens. */
final class WaitingNotice implements LockListener {
  private final boolean quiet;
  private final boolean verbose;

  WaitingNotice(boolean quiet, boolean verbose) {
    this.quiet = quiet;
    this.verbose = verbose;
  }

  @Override
  public void onContended(Contended event) {
    if (verbose || (!quiet && Terminal.onStderr())) {
      String holder = event.holder() == null ? "another" : event.holder();
      Message.print("waiting for lock '" + event.name() + "', held by " + holder);
    }
  }
}
