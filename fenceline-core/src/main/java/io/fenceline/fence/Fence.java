package io.fenceline.fence;

import io.fenceline.FencingToken;
import io.fenceline.StaleTokenException;

/**
 * Refuses writers that were overtaken.
 *
 * <pre>{@code
 * Fence fence = new MemoryFence();
 * synchronized (ledger) {
 *   fence.check("ledger", hold.fencingToken());
 *   ledger.append(entry, hold.token());
 * }
 * }</pre>
 *
 * <p>A fence works only if the check and the write are one step for everyone else: in the same
 * transaction, script or critical section. A check that is followed by a write some time later is
 * just another lease. So the fences of databases and other stores have methods that do both; the
 * plain {@link #check} is for whoever can put both into one step by other means, and narrows the
 * gap for whoever can't.
 *
 * <p>What breaks a fence:
 *
 * <ul>
 *   <li>One resource guarded by two lock names, or by one name in two stores: the tokens of one say
 *       nothing about the other, and the larger ones win for ever. One resource, one name, one
 *       store.
 *   <li>A resource that can also be written without a token.
 *   <li>A lock store that was wiped or restored and counts anew: everything is refused until {@code
 *       tokenBase} lifts the tokens above what the fences have seen.
 *   <li>A fence that was wiped or restored: it lets stale tokens pass until the next write. Keep it
 *       with the data, so that both come back from the same backup.
 * </ul>
 *
 * <p>Permits of a semaphore have no {@link FencingToken}: several are valid at once, so no order
 * can fence them.
 *
 * <p>Implementations are thread-safe, never let a mark go back, accept the same token again, and
 * say how they bound what they keep.
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
