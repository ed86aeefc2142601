package io.fenceline.recipes.election;

import io.fenceline.ClientClosedException;
import io.fenceline.Fenceline;
import io.fenceline.diagnosis.LockReport;
import io.fenceline.spi.Causes;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks the store who leads, and tells of changes. */
final class LeaderWatch implements Watch {
  /*
   * An answer that comes late could tell of a leader that was followed by another, whom the listener
   * has heard of: so the next question is asked after the answer to the last one, never beside it.
   */
  private static final Logger LOG = LoggerFactory.getLogger(Election.class);

  private final Fenceline fenceline;
  private final String name;
  private final Time time;
  private final Duration every;
  private final Consumer<? super Optional<Leader>> listener;

  // Guarded by this.
  private Time.@Nullable Timer timer;
  private boolean closed;
  // Of the looks alone, of which there is one at a time. -1: nothing was told yet; 0: nobody.
  private long lastTerm = -1;

  LeaderWatch(
      Fenceline fenceline,
      String name,
      Duration every,
      Consumer<? super Optional<Leader>> listener) {
    this.fenceline = fenceline;
    this.name = name;
    this.time = fenceline.time();
    this.every = every;
    this.listener = listener;
  }

  LeaderWatch start() {
    look();
    return this;
  }

  private void look() {
    fenceline.inspectAsync(name).whenComplete(this::answered);
  }

  private void answered(@Nullable LockReport report, @Nullable Throwable failure) {
    if (report != null) {
      time.lane(Lane.CALLBACK)
          .execute(
              () -> {
                tell(Leader.in(report));
                again();
              });
      return;
    }
    Throwable cause = failure == null ? null : Causes.unwrap(failure);
    if (cause instanceof ClientClosedException) {
      close();
      return;
    }
    // Not a change: who leads is not known, and a leader does not end by our not seeing it.
    LOG.debug("Election '{}': the store did not say who leads", name, cause);
    again();
  }

  private synchronized void tell(Optional<Leader> leader) {
    long now = leader.map(Leader::term).orElse(0L);
    if (closed || now == lastTerm) {
      return;
    }
    lastTerm = now;
    try {
      listener.accept(leader);
    } catch (RuntimeException e) {
      LOG.warn("Election '{}': a listener failed (term={})", name, now, e);
    }
  }

  private synchronized void again() {
    if (!closed) {
      timer = time.schedule(every.toNanos(), this::look);
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    if (timer != null) {
      timer.cancel();
    }
  }
}
