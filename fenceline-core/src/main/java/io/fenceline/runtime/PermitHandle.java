package io.fenceline.runtime;

import io.fenceline.PermitHold;
import io.fenceline.spi.Mode;

/** A hold of permits. */
final class PermitHandle extends Handle implements PermitHold {

  PermitHandle(HoldState holdState) {
    super(holdState);
  }

  @Override
  public int permits() {
    return ((Mode.Permits) holdState.clientGrant.terms().mode()).count();
  }
}
