package io.fenceline.testkit.contract;

import io.fenceline.spi.StoreFactory;
import io.fenceline.testkit.harness.SlowNetwork;
import io.fenceline.testkit.harness.StoreHarness;
import java.util.Optional;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * What every store must do. A store joins by extending this class with its own harness:
 *
 * <pre>{@code
 * class MemoryContractTest extends LockContract {
 *   @Override
 *   protected StoreHarness harness() {
 *     return StoreHarness.onManualTime(time -> MemorySpace.create(time::wallMillis).factory());
 *   }
 *
 *   @Override
 *   protected Optional<Proxied> proxied() {
 *     return Optional.empty(); // It is in this process: there is no network.
 *   }
 * }
 * }</pre>
 *
 * <p>Each test opens clients of its own and uses names of its own, so tests may share a server, and
 * run at the same time where {@code junit.jupiter.execution.parallel.enabled} is set: on a real
 * server most of them wait for leases to end. A test of a guarantee that a store does not declare
 * asserts instead that the store refuses what relies on it.
 */
@Execution(ExecutionMode.CONCURRENT)
public abstract class LockContract {

  /** A subclass has a constructor without arguments. */
  protected LockContract() {}

  /** The store under test; called once for each test. */
  protected abstract StoreHarness harness();

  /**
   * Opens a proxy in front of the server, for a client that stands still and for replies that are
   * late; empty if clients reach the store without a network. Every contract says which: tests of a
   * store whose replies could come late must not pass because nobody made them late.
   */
  protected abstract Optional<Proxied> proxied();

  /**
   * The store, seen through a proxy.
   *
   * @param store where the client connects
   * @param network the proxy; is closed after the test
   */
  public record Proxied(StoreFactory store, SlowNetwork network) {}

  /**
   * Starts a server of the same kind whose settings let it forget grants; empty if there is no such
   * setting that a client could see.
   */
  protected Optional<Forgetful> forgetful() {
    return Optional.empty();
  }

  /**
   * A server that keeps less than it should.
   *
   * @param store where clients connect
   * @param setting what a client is told about it, at least
   * @param server is closed after the test
   */
  public record Forgetful(StoreFactory store, String setting, AutoCloseable server) {}

  @Nested
  class Exclusion extends ExclusionBehaviour {
    Exclusion() {
      super(LockContract.this);
    }
  }

  @Nested
  class Tokens extends TokenBehaviour {
    Tokens() {
      super(LockContract.this);
    }
  }

  @Nested
  class Loss extends LossBehaviour {
    Loss() {
      super(LockContract.this);
    }
  }

  @Nested
  class Leases extends LeaseBehaviour {
    Leases() {
      super(LockContract.this);
    }
  }

  @Nested
  class Reentry extends ReentryBehaviour {
    Reentry() {
      super(LockContract.this);
    }
  }

  @Nested
  class Waiting extends WaitingBehaviour {
    Waiting() {
      super(LockContract.this);
    }
  }

  @Nested
  class GivingUp extends GivingUpBehaviour {
    GivingUp() {
      super(LockContract.this);
    }
  }

  @Nested
  class Sharing extends SharingBehaviour {
    Sharing() {
      super(LockContract.this);
    }
  }

  @Nested
  class Permits extends PermitBehaviour {
    Permits() {
      super(LockContract.this);
    }
  }

  @Nested
  class AllOrNone extends AllOrNoneBehaviour {
    AllOrNone() {
      super(LockContract.this);
    }
  }

  @Nested
  class UnknownOutcomes extends UnknownOutcomeBehaviour {
    UnknownOutcomes() {
      super(LockContract.this);
    }
  }

  @Nested
  class Names extends NameBehaviour {
    Names() {
      super(LockContract.this);
    }
  }

  @Nested
  class Inspection extends InspectionBehaviour {
    Inspection() {
      super(LockContract.this);
    }
  }

  @Nested
  class Closing extends ClosingBehaviour {
    Closing() {
      super(LockContract.this);
    }
  }

  @Nested
  class Tasks extends TaskBehaviour {
    Tasks() {
      super(LockContract.this);
    }
  }

  @Nested
  class Calls extends CallBehaviour {
    Calls() {
      super(LockContract.this);
    }
  }

  @Nested
  class Guarantees extends GuaranteeBehaviour {
    Guarantees() {
      super(LockContract.this);
    }
  }

  @Nested
  class StandingStill extends StandingStillBehaviour {
    StandingStill() {
      super(LockContract.this);
    }
  }

  @Nested
  class SlowReplies extends SlowRepliesBehaviour {
    SlowReplies() {
      super(LockContract.this);
    }
  }

  @Nested
  class Requests extends RequestBehaviour {
    Requests() {
      super(LockContract.this);
    }
  }

  @Nested
  class Parity extends ParityBehaviour {
    Parity() {
      super(LockContract.this);
    }
  }
}
