package io.fenceline.runtime;

import io.fenceline.PermitHold;
import io.fenceline.spi.Mode;
import org.jspecify.annotations.Nullable;

/** A hold of permits. */
final class PermitHandle extends Handle implements PermitHold {

  PermitHandle(CallerHold callerHold, @Nullable Thread by) {
    super(callerHold, by);
  }

  @Override
  public int permits() {
    return ((Mode.Permits) callerHold.lifecycle.terms().mode()).count();
  }
}
