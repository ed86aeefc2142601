package io.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import io.fenceline.FencedLock;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.ReleaseOutcome;
import io.fenceline.memory.MemorySpace;
import io.fenceline.testkit.fault.LossyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** The extension gives what it promises, and fails a test that leaks. */
@ExtendWith(FencelineExtension.class)
class FencelineExtensionTest {
  private Fenceline before;

  @BeforeEach
  void setUp(Fenceline fenceline) {
    before = fenceline;
  }

  @Test
  void runsOnceAtATime(Fenceline fenceline, ManualTime time) {
    FencedLock lock = fenceline.lock("nightly");
    try (Hold hold = lock.tryAcquire().orElseThrow()) {
      time.advance(Duration.ofHours(1));
      assertThat(hold.isValid()).isTrue();
      assertThat(lock.tryAcquire()).isEmpty();
    }
    assertThat(fenceline).isSameAs(before);
  }

  @Test
  void secondClient_seesTheSameNames(Fenceline fenceline, MemorySpace space, ManualTime time) {
    try (Hold hold = fenceline.lock("ledger").tryAcquire().orElseThrow();
        Fenceline other = Fenceline.builder().store(space.factory()).time(time).connect()) {
      assertThat(other.lock("ledger").tryAcquire()).isEmpty();
      assertThat(hold.isValid()).isTrue();
    }
  }

  @Test
  void storeThatIsAway_isNotHeldAgainstTheTest(Fenceline fenceline, LossyStore store) {
    Hold hold = fenceline.lock("ledger").tryAcquire().orElseThrow();
    store.fault(LossyStore.Fault.LOSE_REQUEST);

    assertThat(hold.release()).isEqualTo(ReleaseOutcome.UNKNOWN);
    assertThat(store.met()).isPositive();
  }

  @Test
  void testThatLeaks_fails_withWhereItAcquired() {
    TestExecutionResult result = run("leaks");

    assertThat(result.getStatus()).isEqualTo(TestExecutionResult.Status.FAILED);
    assertThat(result.getThrowable().orElseThrow())
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("Lock 'ledger' was not released by the test");
    assertThat(result.getThrowable().orElseThrow().getStackTrace())
        .anyMatch(frame -> frame.getMethodName().equals("leaks"));
  }

  @Test
  void testThatReleasesLosesOrKeepsClosed_passes() {
    assertThat(run("isTidy").getStatus()).isEqualTo(TestExecutionResult.Status.SUCCESSFUL);
  }

  private static TestExecutionResult run(String method) {
    List<TestExecutionResult> results = new ArrayList<>();
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request()
                .selectors(
                    selectMethod(
                        Sample.class.getName()
                            + "#"
                            + method
                            + "(io.fenceline.Fenceline, io.fenceline.testkit.ManualTime)"))
                .build(),
            new TestExecutionListener() {
              @Override
              public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                if (test.isTest()) {
                  results.add(result);
                }
              }
            });
    assertThat(results).hasSize(1);
    return results.get(0);
  }

  /** Run by the tests above only. */
  @ExtendWith(FencelineExtension.class)
  static class Sample {
    @Test
    void leaks(Fenceline fenceline, ManualTime time) {
      assertThat(fenceline.lock("ledger").tryAcquire()).isPresent();
    }

    @Test
    void isTidy(Fenceline fenceline, ManualTime time) {
      LockOptions fixed = LockOptions.defaults().fixedLease(Duration.ofSeconds(1));
      LockOptions kept = LockOptions.defaults().keepAtLeast(Duration.ofHours(1));
      assertThat(fenceline.lock("lost", fixed).tryAcquire()).isPresent();
      time.advance(Duration.ofSeconds(2));
      fenceline.lock("kept", kept).tryAcquire().orElseThrow().release();
    }
  }
}
