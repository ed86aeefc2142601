package io.fenceline.fence;

/**
 * Hears what a fence lets pass and what it refuses.
 *
 * <p>Called on the thread that hears the fence's verdict, right after it, so it must be quick and
 * must not block; what it throws is logged and changes nothing.
 */
@FunctionalInterface
public interface FenceListener {

  /** Called once for each verdict. */
  void on(FenceEvent event);
}
