package io.fenceline.fence;

import io.fenceline.FencingToken;
import io.fenceline.StaleTokenException;

/**
 * Refuses writers that were overtaken.
 *
 * <pre>{@code
 * Fence fence = new MemoryFence();
 * fence.check("ledger", hold.fencingToken());
 * ledger.append(entry, hold.token());
 * }</pre>
 *
 * <p>A fence works only if the check and the write are one step for everyone else: in the same
 * transaction, script or critical section. A check that is followed by a write some time later is
 * just another lease.
 *
 * <p>One resource is guarded by one lock name of one store. With two names, or two stores, the
 * tokens of one say nothing about the other, and the larger one wins for ever. Permits of a
 * semaphore have no {@link FencingToken}: several are valid at once, so no order can fence them.
 *
 * <p>Implementations are thread-safe, never let a mark go back, and say how they bound what they
 * keep.
 */
public interface Fence {

  /**
   * Lets a token pass, and remembers it.
   *
   * @param resource what is written, by a name of your choice
   * @throws StaleTokenException if a larger token has passed before
   */
  void check(String resource, FencingToken token);
}
