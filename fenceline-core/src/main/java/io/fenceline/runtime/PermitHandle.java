package io.fenceline.runtime;

import io.fenceline.PermitHold;
import io.fenceline.spi.Mode;

/** A hold of permits. */
final class PermitHandle extends Handle implements PermitHold {

  PermitHandle(CallerHold callerHold) {
    super(callerHold);
  }

  @Override
  public int permits() {
    return ((Mode.Permits) callerHold.lifecycle.terms().mode()).count();
  }
}
