package io.fenceline.fence;

import io.fenceline.FencingToken;
import io.fenceline.StaleTokenException;

/**
 * Refuses writes with stale tokens, on the side of the guarded resource.
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
 * no better than a lease. The fences of databases and other stores therefore have methods that do
 * both. Use the plain {@link #check} if you can make both one step by other means; otherwise it
 * only narrows the gap.
 *
 * <p>What breaks a fence:
 *
 * <ul>
 *   <li>One resource guarded by two lock names, or by one name in two stores: their tokens can't be
 *       compared, and the holders with the larger ones always win. Use one name in one store for
 *       each resource.
 *   <li>A resource that can also be written without a token.
 *   <li>A lock store that was wiped or restored, so that its tokens start again: the fence refuses
 *       everything until {@code tokenBase} raises the tokens above those that it has accepted.
 *   <li>A fence that was wiped or restored: it lets stale tokens pass until the next write. Keep it
 *       with the data, so that both come back from the same backup.
 * </ul>
 *
 * <p>Permits of a semaphore have no {@link FencingToken}, since several are valid at once and can't
 * be fenced.
 *
 * <p>Implementations are thread-safe, never lower a mark, accept the same token again, and document
 * how they bound their memory.
 */
public interface Fence {

  /**
   * Checks a token, and remembers it if it passes.
   *
   * @param resource a name of your choice for what is written
   * @throws StaleTokenException if a larger token has passed before
   */
  void check(String resource, FencingToken token);
}
