package io.fenceline.runtime;

import io.fenceline.PermitHold;
import io.fenceline.spi.Mode;

/** A hold of permits. */
final class PermitHandle extends Handle implements PermitHold {

  PermitHandle(Stay stay) {
    super(stay);
  }

  @Override
  public int permits() {
    return ((Mode.Permits) stay.tenure.terms().mode()).count();
  }
}
