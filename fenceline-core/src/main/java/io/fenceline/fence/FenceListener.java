package io.fenceline.fence;

/**
 * Receives the decisions of a fence.
 *
 * <p>Called right after the decision, on the thread that receives it, so it must be quick and must
 * not block. Exceptions are logged and otherwise ignored.
 */
@FunctionalInterface
public interface FenceListener {

  /** Called once for each decision. */
  void on(FenceEvent event);
}
