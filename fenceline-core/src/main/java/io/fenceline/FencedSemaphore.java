package io.fenceline;

import io.fenceline.settings.InvalidSettingException;

/**
 * A number of permits on one name; acquiring it takes one.
 *
 * <p>Permits that a crashed process held come back at the end of its lease. All who use a name must
 * agree on its number of permits.
 */
public interface FencedSemaphore extends Acquirable<PermitHold> {

  /** The name. */
  String name();

  /** How many permits there are. */
  int permits();

  /**
   * Several permits at once, all or none.
   *
   * @throws InvalidSettingException if there are fewer
   */
  Acquirable<PermitHold> several(int permits);
}
