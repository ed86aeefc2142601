package io.fenceline.testkit.fence;

import io.fenceline.FencingToken;
import io.fenceline.StaleTokenException;
import io.fenceline.fence.Fence;
import io.fenceline.fence.FenceNotices;
import io.fenceline.fence.MemoryFence;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.Test;

/**
 * Checks that cross each other inside the fence in memory: their verdicts are those of some order.
 * A race of real threads hardly ever meets in the few instructions that matter.
 */
@Param(name = "token", gen = IntGen.class, conf = "1:4")
public class MemoryFenceLincheckTest {
  private final Fence fence = new MemoryFence();

  /** Whether an exclusive token passes. */
  @Operation
  public boolean write(@Param(name = "token") int token) {
    return passes(FencingToken.exclusive(token));
  }

  /** Whether a shared token passes. */
  @Operation
  public boolean read(@Param(name = "token") int token) {
    return passes(FencingToken.shared(token));
  }

  private boolean passes(FencingToken token) {
    try {
      fence.check("price", token);
      return true;
    } catch (StaleTokenException e) {
      return false;
    }
  }

  @Test
  void verdictsOfChecksThatCross_areThoseOfSomeOrder() {
    new ModelCheckingOptions()
        .iterations(6)
        .invocationsPerIteration(150)
        .threads(2)
        .actorsPerThread(2)
        .actorsBefore(1)
        .actorsAfter(1)
        // What it says to the log is not what is checked, and the log reads clocks.
        .addGuarantee(
            ManagedStrategyGuaranteeKt.forClasses(FenceNotices.class.getName())
                .allMethods()
                .ignore())
        .check(MemoryFenceLincheckTest.class);
  }
}
