package io.fenceline.testkit.fence;

import io.fenceline.FencingToken;
import io.fenceline.fence.FenceListener;
import io.fenceline.fence.MemoryFence;

/** The fence in memory, with a writer that makes check and write one step. */
class MemoryFenceContractTest extends FenceContract {

  @Override
  protected int tokensPerWriter() {
    return 250;
  }

  @Override
  protected FencedCell cell(String name, FenceListener listener) {
    MemoryFence fence = new MemoryFence(100, listener);
    return new FencedCell() {
      private String value = "";

      @Override
      public synchronized void write(String next, FencingToken token) {
        fence.check(name, token);
        value = next;
      }

      @Override
      public synchronized String read() {
        return value;
      }
    };
  }
}
