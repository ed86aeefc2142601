package io.fenceline.jdbc.waiting;

import org.jspecify.annotations.Nullable;

/**
 * A listener whose messages name who is next: whether they can be relied on, {@link Hearing} knows.
 */
abstract class HearingListener implements NotificationListener {
  final Hearing hearing = new Hearing();

  @Override
  public final boolean isHearing() {
    return hearing.isReliable();
  }

  @Override
  public final @Nullable ArmedBell watch() {
    return hearing.watch();
  }

  @Override
  public final boolean covers(ArmedBell watch) {
    return hearing.covers(watch);
  }

  @Override
  public final void doubt() {
    hearing.doubt();
  }
}
