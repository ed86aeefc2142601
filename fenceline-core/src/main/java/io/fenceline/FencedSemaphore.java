package io.fenceline;

import io.fenceline.settings.InvalidSettingException;

/**
 * A semaphore shared by processes through a store: a number of permits on one name. Acquiring it
 * takes one permit.
 *
 * <p>Permits that a crashed process held become free at the end of its lease. All clients must use
 * the same number of permits for a name.
 */
public interface FencedSemaphore extends Acquirable<PermitHold> {

  /** Returns the name of this semaphore. */
  String name();

  /** Returns the total number of permits. */
  int permits();

  /**
   * Returns a way to acquire several permits at once, all or none.
   *
   * @throws InvalidSettingException if the semaphore has fewer permits
   */
  Acquirable<PermitHold> several(int permits);
}
