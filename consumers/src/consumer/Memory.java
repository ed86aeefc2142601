package consumer;

import io.fenceline.FencingToken;
import io.fenceline.fence.MemoryFence;

final class Memory implements Main.Guarded {
  private final MemoryFence fence = new MemoryFence();

  Memory(String uri) {}

  @Override
  public void write(FencingToken token) {
    fence.check("resource", token);
  }

  @Override
  public void close() {}
}
