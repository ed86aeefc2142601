package io.fenceline.testbed.pause;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectNestedMethod;

import io.fenceline.testkit.scenario.StallDetector;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** A test on real time is run again after a stall of this JVM, and for no other reason. */
class StartAgainAfterStallTest {

  private static TestExecutionResult run(String method) {
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(
                selectNestedMethod(
                    List.of(StallingContract.class), StallingContract.Stalling.class, method))
            .build();
    TestExecutionResult[] seen = new TestExecutionResult[1];
    LauncherFactory.create()
        .execute(
            request,
            new TestExecutionListener() {
              @Override
              public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                if (test.isTest()) {
                  seen[0] = result;
                }
              }
            });
    return seen[0];
  }

  @Test
  void testThatLostALeaseInAStall_startsAgain() {
    TestExecutionResult result = run("leaseThatEndedInAStall");

    assertThat(result.getThrowable()).isEmpty();
    assertThat(StallingContract.STALLED_RUNS.get()).isGreaterThan(1);
  }

  @Test
  void testThatIsWrong_isNotRunAgain() {
    StallDetector detector = StallDetector.ofThisJvm();
    long start;
    TestExecutionResult result;
    do { // until the machine leaves this JVM alone for as long
      StallingContract.WRONG_RUNS.set(0);
      start = System.nanoTime();
      result = run("wrongWithoutAStall");
    } while (!detector.longestSince(start).isZero());

    assertThat(result.getThrowable())
        .hasValueSatisfying(e -> assertThat(e).hasMessage("wrong in run 1"));
    assertThat(StallingContract.WRONG_RUNS).hasValue(1);
  }
}
