package io.fenceline.runtime;

import com.google.errorprone.annotations.MustBeClosed;
import io.fenceline.FencingToken;
import io.fenceline.Hold;
import io.fenceline.spi.Mode;
import org.jspecify.annotations.Nullable;

/** A hold of a lock, exclusive or shared. */
final class LockHandle extends Handle implements Hold {

  @MustBeClosed
  LockHandle(CallerHold callerHold, @Nullable Thread by) {
    super(callerHold, by);
  }

  @Override
  public FencingToken fencingToken() {
    boolean exclusive = callerHold.lifecycle.terms().mode() instanceof Mode.Exclusive;
    return new FencingToken(token(), exclusive);
  }

  @Override
  @MustBeClosed
  public Hold reenter() {
    Handle again = callerHold.reopen(this, LockHandle::new);
    if (again == null) {
      throw ended();
    }
    return (Hold) again;
  }
}
